//! The tests of the whole: one line per capability.

mod advise; // advice: the best pair of start and policy, confirmed on other seeds
mod authors; // calls of the authors' own program: a folder of cases, calls in turn
mod barrier_free; // supersteps without barriers worked out by hand
mod basis; // the settings below a run: a paper's on its platform, neutral ones elsewhere
mod bench; // benchmarks: the same bytes after kills and in parts, rivals that are programs, the stored best
mod book; // the book: current, no dead link, blocks that can be read, flags that exist
mod call_options; // options of calls: waiting, prices, moves at nominal speed
mod circles; // no files of a crate need each other
mod cli; // the command: transcripts, folders, determinism
mod compare; // folders compared as policies: the same numbers, other applications refused; bounds below optima below policies
mod contracts; // plug-ins that break their contracts: each ends with an error that names it, none hangs or is believed
mod corpus; // inputs kept by fuzzing, checked again
mod data; // data of DARMA/vt and tables as applications: run, explained, exported, read again
mod dependencies; // licences and sources of all packages
mod determinism; // golden hashes; threads, folders, languages, orders of keys
mod doors; // inputs and outputs: names that are not UTF-8, byte-order marks, no input replaced
mod examples; // the commands of each help and page run
mod exec; // the policy exec: a program in another language, its faults, and files that may not start one
mod explain; // run folders: read again or refused, and explained
mod figures; // figures for articles: every size, legible, whole, the same bytes
mod folders; // run folders: one run each, no stale files, other files untouched, other settings refused
mod former; // folders of versions 0.2 and 0.3: read, and their runs repeated to the last digit, or it is said what moved
mod fuzzing; // the fuzz targets: a function per kind of input
mod hostile; // broken inputs of every kind, each refused with its place and a hint
mod invariants; // faults of the program stop a run, with a dump
mod kills; // commands disturbed at random times: no result lost, no incomplete file, the same bytes
mod laws; // laws for every platform and workload: twins, scaling, order, hash
mod ledger; // the terms of the difference of two makespans, worked out by hand
mod library; // message-passing libraries: costs of messages, by hand; the order in which settings win
mod load; // background load: a constant load slows down, a generated one equals its profile, the same for all scenarios
mod lu; // the application `lu` against closed forms
mod mass; // the mass of the program, which may only fall; crates above those that they use; functions fit on a screen
mod matrix; // the matrix: every command x policies x platforms x loads x libraries ends well, with the numbers of `run`
mod migbsp; // the policy worked out by hand, option by option
mod migbsp_2007; // the first generation: the claims of its paper, its bounds, its options
mod nothing; // laws of nothing: profiles of present values, loads of 0, changes by 0 %, unused hosts change no time
mod one_time; // one time for each run: shortcuts, events, critical path, queues, other numbers of processes
mod oracle; // 38 simulations done with SimGrid, every time
mod oracle_xml; // 57 more on platform files of SimGrid, every route and time
mod package; // the published package: files, size, citation
mod pages; // the pages of sweeps, searches and explanations: one frame, nothing fetched, no raw JSON
mod papers; // the papers: decisions that are theirs, the first tolerances of LU, no published number in the simulator
mod platform_oracle; // the platforms of the oracle read the same from XML and JSON
mod plausibility; // notes about implausible values: none for a paper, one for each rule
mod plugin_pages; // the pages of policies and triggers in the book
mod reality; // programs measured on MPI: the committed page is current, errors within their limits
mod recorded; // recorded traces: the library that they use, and the notes about it
mod reference; // a second simulator, from documents alone: drawn replays; no time depends on an order
mod report; // the report: self-contained, the same bytes, nothing fetched, damaged folders refused
mod reproduce; // the papers: committed results are current, facts are complete
mod runtime; // supersteps, barriers, calls and migrations worked out by hand
mod same_machine; // a platform and its export for SimGrid: the same tables, times and decisions
mod security; // hostile names through every writer, folders from another source
mod seeds; // one seed for application, load and policy, the same in every command
mod sentences; // sentences and ledgers of drawn runs agree with their records; effects of moves are known
mod slow; // the slow twin of the engine
mod snapshot; // a barrier as a file: strategies make the same decisions as in the run
mod source; // Rust source as tokens, for tests that read it
mod starts; // the default start of processes, the best start without moves, moves straight back
mod statistics; // false statements about equal policies in at most 5 % of tables; three tables that once misled
mod steady_state; // no allocation per superstep
mod stepper; // runs that stop at each barrier: the same as the run of a policy; copies continue independently
mod strategies; // decisions of other load balancers, to the last tie; triggers, optima
mod support; // common code of the tests
mod sweeps; // sweeps: threads, kills, parts, files, failures
mod terminal; // completion by name, lists of scenarios, quiet JSON, suggestions for misspelt names, columns as documented
mod trace_format; // traces: read, written, refused; `lu` against the oracle
mod trace_runs; // traces as applications: exported and run again, memory, hosts, flags, the page that describes them
mod traces; // traces for viewers: strict readers, totals of the tables, complete or absent
mod tune; // searches: threads, budget, fresh seeds, the command that is printed
mod verdicts; // verdicts: each best row that a sentence names is the best of the table
