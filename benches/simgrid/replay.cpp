// Replays a trace of migsim on a platform with SimGrid: one actor per process.
//
//   replay PLATFORM TRACE detached|kept [--cfg=... of SimGrid]
//   replay PLATFORM hosts                    prints the names of the hosts
//
// In every superstep a process computes, sends its messages, waits until it has all messages addressed to it, and enters a barrier without
// cost. The messages are sent at once (`runtime sends concurrent`), or each when the previous one has arrived (`runtime sends sequential`).
// Concurrent sends are `detached` (forgotten once started) or `kept` and awaited before the barrier: the times are equal, and which is
// faster depends on the case. The program prints `name value` lines: the time of the end, the number of messages, the CPU time of the
// simulation loop alone (platform and trace are read before it) and the peak memory. Traces with another barrier, late receives or moves
// are refused.
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>

namespace s4u = simgrid::s4u;

namespace {

struct Message {
  unsigned to;
  uint64_t bytes;
};

// The operations of a process in a superstep; its messages follow those of its previous superstep in `Process::messages`.
struct Turn {
  double flops      = 0;
  unsigned sends    = 0;
  unsigned receives = 0;
};

struct Process {
  std::string host;
  std::vector<Turn> turns;
  std::vector<Message> messages;
};

[[noreturn]] void refuse(const std::string& what)
{
  std::fprintf(stderr, "replay: %s\n", what.c_str());
  std::exit(2);
}

bool is_sequential = false;

// A setting of the runtime: early receives and an ideal barrier, whose other keys have no effect.
void runtime(std::istringstream& words)
{
  std::string key;
  std::string value;
  words >> key >> value;
  if (key == "sends")
    is_sequential = value == "sequential";
  const bool is_right = key == "sends" ? is_sequential || value == "concurrent" : key == "receives" ? value == "early" : key == "barrier.kind" ? value == "ideal" : true;
  if (!is_right)
    refuse("cannot replay `runtime " + key + " " + value + "`");
}

std::vector<Process> read_trace(const char* path)
{
  std::ifstream file(path);
  std::string line;
  std::vector<Process> all;
  size_t superstep = 0;
  double cycles    = 1;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "migsim-trace" || kind == "memory" || kind == "#") {
      // There are no moves here.
    } else if (kind == "processes") {
      size_t processes = 0;
      words >> processes;
      all.resize(processes);
    } else if (kind == "runtime") {
      runtime(words);
    } else if (kind == "cycles") {
      words >> cycles;
    } else if (kind == "host") {
      size_t process = 0;
      words >> process;
      words >> all.at(process).host;
    } else if (kind == "step") {
      words >> superstep;
      for (auto& process : all)
        process.turns.resize(superstep + 1);
    } else if (kind == "c") {
      size_t process = 0;
      words >> process;
      double instructions = 0;
      words >> instructions;
      all.at(process).turns.at(superstep).flops = instructions * cycles;
    } else if (kind == "m") {
      size_t from = 0;
      Message message{};
      words >> from >> message.to >> message.bytes;
      all.at(from).messages.push_back(message);
      all.at(from).turns.at(superstep).sends++;
      all.at(message.to).turns.at(superstep).receives++;
    } else if (kind == "end") {
      return all;
    } else {
      refuse("cannot replay `" + line + "`");
    }
    if (words.fail())
      refuse("cannot read `" + line + "`");
  }
  refuse(std::string(path) + " has no end");
}

// The mailbox of each process. It has a receiver from the start, so that messages start when they are sent, not when they are awaited.
std::vector<s4u::Mailbox*> mailboxes;
s4u::BarrierPtr barrier;
int payload;
bool is_kept = false;

void live(const Process& process, size_t number)
{
  s4u::Mailbox* inbox = mailboxes[number];
  inbox->set_receiver(s4u::Actor::self());
  barrier->wait(); // nobody sends before all mailboxes have their receivers
  auto message = process.messages.begin();
  std::vector<s4u::CommPtr> kept;
  for (const Turn& turn : process.turns) {
    if (turn.flops > 0)
      s4u::this_actor::execute(turn.flops);
    for (unsigned i = 0; i < turn.sends; i++, ++message)
      if (is_sequential)
        mailboxes[message->to]->put(&payload, message->bytes);
      else if (is_kept)
        kept.push_back(mailboxes[message->to]->put_async(&payload, message->bytes));
      else
        mailboxes[message->to]->put_init(&payload, message->bytes)->detach();
    for (unsigned i = 0; i < turn.receives; i++)
      inbox->get<int>();
    for (auto& send : kept)
      send->wait();
    kept.clear();
    barrier->wait();
  }
}

double cpu_seconds()
{
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

} // namespace

int main(int argc, char** argv)
{
  mallopt(M_MMAP_THRESHOLD, 32 * 1024); // a stack of an actor takes the pages it touches, not all of them
  s4u::Engine engine(&argc, argv); // takes its own options out of the command line
  if (argc == 3 && std::string(argv[2]) == "hosts") {
    engine.load_platform(argv[1]);
    for (const s4u::Host* host : engine.get_all_hosts())
      std::printf("%s\n", host->get_cname());
    return 0;
  }
  if (argc != 4)
    refuse("usage: replay PLATFORM TRACE detached|kept [--cfg=...]");
  is_kept = std::string(argv[3]) == "kept";
  engine.load_platform(argv[1]);
  const std::vector<Process> processes = read_trace(argv[2]);
  size_t messages                      = 0;
  barrier                              = s4u::Barrier::create(static_cast<unsigned>(processes.size()));
  for (size_t number = 0; number < processes.size(); number++) {
    messages += processes[number].messages.size();
    mailboxes.push_back(s4u::Mailbox::by_name(std::to_string(number)));
    s4u::Host* host = s4u::Host::by_name_or_null(processes[number].host);
    if (host == nullptr)
      refuse("no host `" + processes[number].host + "`");
    const Process* process = &processes[number];
    s4u::Actor::create(std::to_string(number), host, [process, number] { live(*process, number); });
  }
  const double begin = cpu_seconds();
  engine.run();
  const double loop = cpu_seconds() - begin;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("finish_s %.17g\nmessages %zu\nloop_cpu_s %.6f\npeak_kb %ld\nversion %d.%d\n", s4u::Engine::get_clock(), messages, loop,
              used.ru_maxrss, SIMGRID_VERSION_MAJOR, SIMGRID_VERSION_MINOR);
  return 0;
}
