//! The tests of the whole: one line per capability.

mod ahead; // supersteps without barriers worked out by hand
mod authors; // stored calls of the authors' own program: equal, the committed page is current
mod basis; // whose settings a run has: a paper's on its machine, elsewhere neutral ones
mod bench; // benchmarks: the same bytes after kills and in parts, rivals that are programs, the stored best
mod book; // the book: current, no dead link, blocks that can be read, flags that exist
mod call_options; // waiting for calls, moves as if alone
mod cli; // the command: transcripts, folders, determinism
mod compare; // folders compared as policies: the same numbers, other applications refused; bounds below optima below policies
mod corpus; // what fuzzing has found, once more
mod data; // data of DARMA/vt and tables as applications: run, explained, exported, read again
mod dependencies; // licences and sources of all packages
mod determinism; // golden hashes; threads, folders, languages, orders of keys
mod exec; // the policy exec: a program in another language, its faults, and files that may not start one
mod explain; // run folders: read again or refused, and explained
mod figures; // figures for articles: every format and size, legible, whole, the font embedded
mod folders; // run folders: one run each, nothing stale, nothing of others, no other settings
mod former; // folders of version 0.2: read, and their runs repeated to the last digit
mod fuzzing; // what is fuzzed: a function per kind of input
mod hostile; // broken inputs of every kind, each refused with its place and a hint
mod invariants; // faults of ours stop a run, with a dump
mod kills; // commands disturbed at random moments: nothing lost, nothing half, the same bytes
mod language; // plain English: short sentences, first lines with a subject
mod laws; // what holds for every machine and workload: twins, scaling, order, hash
mod lbm_paper; // the Lattice Boltzmann paper: its times within tolerances, its decisions
mod ledger; // where the difference of two makespans comes from, worked out by hand
mod library; // message-passing libraries: what messages cost, by hand; whose settings win
mod load; // background load: constant is slower, generated is written out, the same for all
mod lu; // the application `lu` against closed forms
mod lu_paper; // the LU paper: its times within tolerances, its decisions exactly
mod migbsp; // the policy worked out by hand, option by option
mod migbsp_2007; // the first generation: the claims of its paper, its bounds, its options
mod oracle; // 38 simulations done with SimGrid, every date
mod oracle_xml; // 57 more on platform files of SimGrid, every route and date
mod package; // the published package: files, size, citation
mod pages; // the pages of sweeps, searches and explanations: one frame, nothing fetched, no JSON
mod platform_oracle; // the platforms of the oracle read the same from XML and JSON
mod plausibility; // notes about values that can hardly be meant: none of a paper's, one of each rule
mod plugin_pages; // the pages of policies and triggers in the book
mod reality; // programs measured on MPI: the committed page is current, errors within what was promised
mod recorded; // recorded traces: the library that belongs to one, and what is said about it
mod reference; // a second simulator, from documents alone: drawn replays; no time depends on an order
mod report; // the page: whole, the same bytes, nothing fetched, damaged folders refused
mod reproduce; // the papers: committed results are current, facts are complete
mod rivals; // the study of rivals: its cases, its page, no choice after the results
mod runtime; // supersteps, barriers, calls and migrations worked out by hand
mod same_machine; // a platform and its export: the same tables, times and decisions
mod security; // nasty names through every writer, folders of somebody else
mod seeds; // one seed for application, load and policy, the same in every command
mod sentences; // sentences follow from numbers: each number is a JSON value, named quantities are recomputed
mod sizes; // functions fit on a screen, files and their test modules stay short
mod slow; // the slow twin of the engine
mod snapshot; // a barrier as a file: strategies decide about it as they did in the run
mod source; // Rust source as tokens, for the two that read it
mod starts; // where processes start by default, the best start without moves, moves straight back
mod statistics; // false statements about equal policies in at most 5 % of tables; three tables that were believed
mod steady_state; // no allocation per superstep
mod stepper; // runs that stop at each barrier: the same as the run of a policy; copies go on by themselves
mod strategies; // decisions of other load balancers, to the last tie; triggers, optima
mod support; // what the tests share
mod sw_papers; // the Smith-Waterman papers: times within tolerances, decisions exactly, exceptions by name
mod sweeps; // sweeps: threads, kills, parts, files, failures
mod terminal; // completion by name, lists of scenarios, quiet JSON, names nearly right, columns as documented
mod tower; // crates use only those below them, and stay below their sizes
mod trace_format; // traces: read, written, refused; `lu` against the oracle
mod trace_runs; // traces as applications: exported and run again, memory, hosts, flags, the page that describes them
mod traces; // traces for viewers: strict readers, totals of the tables, complete or absent
mod tune; // searches: threads, budget, fresh seeds, the command that is printed
