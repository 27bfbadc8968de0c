// Prints the time of each message of a list on a SimGrid platform, then the time of all together, in seconds.
//
//   times PLATFORM.xml MESSAGES     each line of MESSAGES: source host, destination host, size in bytes
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

struct Message {
  std::string from, to;
  double bytes;
};

int main(int argc, char** argv)
{
  sg4::Engine engine(&argc, argv);
  engine.load_platform(argv[1]);
  std::ifstream file(argv[2]);
  std::vector<Message> messages;
  for (Message one; file >> one.from >> one.to >> one.bytes;)
    messages.push_back(one);

  auto start = [](const Message& one) {
    return sg4::Comm::sendto_async(sg4::Host::by_name(one.from), sg4::Host::by_name(one.to), one.bytes);
  };
  sg4::Actor::create("times", engine.get_all_hosts().front(), [&] {
    for (const Message& one : messages) {
      double before = sg4::Engine::get_clock();
      start(one)->wait();
      std::printf("%.17g\n", sg4::Engine::get_clock() - before);
    }
    double before = sg4::Engine::get_clock();
    std::vector<sg4::CommPtr> all;
    for (const Message& one : messages)
      all.push_back(start(one));
    for (const sg4::CommPtr& one : all)
      one->wait();
    std::printf("%.17g\n", sg4::Engine::get_clock() - before);
  });
  engine.run();
}
