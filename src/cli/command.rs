//! Builds the command line: [`Arguments`] defines the commands and common flags, and the plug-ins of a registry (applications,
//! policies) add their flags and names.

use std::{cell::OnceCell, collections::BTreeMap, ffi::OsString, path::Path};

use clap::{Arg, ArgAction, Args as _, Command, CommandFactory, builder::ValueParser};
use serde_json::json;

use super::{
    args::{Arguments, RunArguments, SweepArguments},
    complete::text_parser,
    options::PLUGIN_PREFIX,
};
use crate::{
    Registry,
    error::{Error, Problem, Result},
    experiment::{format_option_value, neutral_options},
    plugin::OptionFlag,
};

/// Defines the whole command line, with the flags that the plug-ins in `registry` add.
///
/// # Errors
/// An entry of the registry cannot be used, or a flag of a plug-in already has another meaning.
pub(super) fn command_for_registry(registry: &Registry) -> Result<Command> {
    command_for_subcommand(registry, None)
}

/// Defines the command line for an invocation of the subcommand `called`, or for all subcommands if it is `None`. Only the
/// subcommand `called` gets the flags of plug-ins, because adding them takes half of the time.
///
/// # Errors
/// An entry of the registry cannot be used, or a flag of a plug-in already has another meaning.
pub(super) fn command_for_subcommand(registry: &Registry, called: Option<&str>) -> Result<Command> {
    registry.check()?;
    let flags = PluginFlags::new(registry);
    let mut problems = Vec::new();
    let command = Arguments::command();
    let is_known = |name: &&str| command.find_subcommand(name).is_some();
    let command = match called.filter(is_known) {
        Some(name) => command.mut_subcommand(name, |inner| {
            flags.add_flags_recursively(inner, &mut problems)
        }),
        None => flags.add_flags_recursively(command, &mut problems),
    };
    problems.dedup();
    Error::unless_empty(problems).map(|()| command)
}

/// Defines a command line that contains only the subcommand `called`, without help texts. It parses the same arguments as the
/// whole command line in a third of the time.
///
/// Returns `None` if the registry has errors, and for all subcommands except `run` and `sweep`, which users start thousands of
/// times.
pub(super) fn minimal_command_for_subcommand(registry: &Registry, called: &str) -> Option<Command> {
    let bare = Command::new(called.to_owned());
    let inner = match called {
        "run" => RunArguments::augment_args(bare),
        "sweep" => SweepArguments::augment_args(bare),
        _ => return None,
    };
    registry.check().ok()?;
    let flags = PluginFlags::new(registry);
    let is_free = |flag: &OptionFlag| !is_flag_name_taken(&inner, flag.name);
    if !flags.all_flags().all(is_free) {
        return None;
    }
    let inner = inner.args(flags.all_flags().map(create_flag));
    Some(
        Command::new(env!("CARGO_PKG_NAME"))
            .subcommand(inner)
            .subcommand_required(true),
    )
}

/// Renames the command to the file name of the program that was started, because a program that uses this crate may have another
/// name than `migsim`.
pub(super) fn with_program_name(command: Command, program: Option<&OsString>) -> Command {
    match program.and_then(|path| Path::new(path).file_stem()?.to_str()) {
        Some(name) if !name.is_empty() => command.name(name.to_owned()),
        _ => command,
    }
}

/// For each command that takes settings, the flags that `-h` and `--help` show, in this order; `--help-all` shows all flags.
const BRIEF_HELP_FLAGS: [(&str, &[&str]); 10] = [
    (
        "run",
        &[
            "platform", "app", "procs", "mapping", "load", "policy", "seed", "settings", "out",
            "report",
        ],
    ),
    (
        "sweep",
        &[
            "platform", "app", "procs", "load", "policy", "vary", "seeds", "settings", "out",
            "dry_run",
        ],
    ),
    (
        "compare",
        &[
            "platform", "app", "procs", "mapping", "load", "policies", "seeds", "settings", "map",
            "out",
        ],
    ),
    (
        "tune",
        &[
            "platform", "app", "procs", "load", "policy", "vary", "seeds", "fresh", "budget", "out",
        ],
    ),
    (
        "advise",
        &[
            "platform", "app", "procs", "load", "policies", "first", "seeds", "settings", "budget",
            "out",
        ],
    ),
    (
        "bottlenecks",
        &[
            "platform",
            "app",
            "procs",
            "mapping",
            "policy",
            "seeds",
            "settings",
            "hold_decisions",
            "pairs",
            "figure",
        ],
    ),
    (
        "explain",
        &[
            "superstep",
            "process",
            "why_not",
            "platform",
            "app",
            "procs",
            "policy",
            "settings",
            "html",
            "json",
        ],
    ),
    (
        "snapshot",
        &[
            "superstep",
            "platform",
            "app",
            "procs",
            "load",
            "policy",
            "seed",
            "settings",
            "out",
        ],
    ),
    (
        "show",
        &[
            "app", "procs", "platform", "work", "messages", "trace", "data", "settings", "rows",
            "svg",
        ],
    ),
    (
        "export",
        &[
            "app", "procs", "platform", "policy", "seed", "settings", "scenario", "format", "out",
        ],
    ),
];

/// Identifier and name of the flag that prints the help for all flags of a command.
const HELP_ALL_FLAG: &str = "help-all";

/// Returns whether the words that the user typed request the help for all flags (`--help-all`).
pub(super) fn requests_help_for_all_flags(typed: &[OsString]) -> bool {
    let mut words = typed.iter().take_while(|word| *word != "--");
    words.any(|word| word == "--help-all")
}

/// Changes `-h` and `--help` of all commands that take settings such that they show only the most common flags.
pub(super) fn with_brief_help(command: Command) -> Command {
    let command = command.mut_subcommands(with_brief_help);
    let name = command.get_name();
    let usual = BRIEF_HELP_FLAGS.iter().find(|(known, _)| *known == name);
    let takes_settings = command
        .get_arguments()
        .any(|arg| arg.get_id() == HELP_ALL_FLAG);
    let (Some((_, usual)), true) = (usual, takes_settings) else {
        return command;
    };
    let place = |id: &str| match without_plugin_prefix(id) {
        HELP_ALL_FLAG => Some(usual.len()),
        id => usual.iter().position(|one| *one == id),
    };
    let examples = command.get_after_help().cloned().unwrap_or_default();
    let examples = examples.to_string();
    let mut lines = examples.lines().map(str::trim_start);
    let is_short = |line: &&str| line.starts_with("migsim ") && line.len() < 96;
    let example = lines
        .find(is_short)
        .map_or_else(String::new, |line| format!("Example:\n  {line}\n\n"));
    let command = command.mut_args(|arg| match place(arg.get_id().as_str()) {
        Some(place) => arg.display_order(place).help_heading(None),
        None if arg.is_positional() => arg,
        None => arg.hide_short_help(true).hide_long_help(true),
    });
    command
        .after_help(format!(
            "{example}`--help` has more examples; `--help-all` lists all other flags."
        ))
        .after_long_help(examples)
}

/// The flags and names that the plug-ins of a registry add to each command that takes settings.
struct PluginFlags<'r> {
    application_flags: Vec<&'static OptionFlag>,
    /// Flags of all policies in the registry.
    policy_flags: Vec<&'static OptionFlag>,
    /// Registry whose plug-ins define the flags and names.
    registry: &'r Registry,
    /// For each flag of a policy, its default value as the help shows it; `None` if the flag has no default. The map is computed
    /// when it is first needed.
    default_text_by_flag: OnceCell<BTreeMap<&'static str, Option<String>>>,
}

impl<'r> PluginFlags<'r> {
    /// Collects the flags of all applications and policies in a registry.
    fn new(registry: &'r Registry) -> Self {
        Self {
            application_flags: registry.workload_flags(),
            policy_flags: registry.policy_flags(),
            registry,
            default_text_by_flag: OnceCell::new(),
        }
    }

    /// Returns the flags of all applications and policies.
    fn all_flags(&self) -> impl Iterator<Item = &'static OptionFlag> {
        self.application_flags
            .iter()
            .chain(&self.policy_flags)
            .copied()
    }

    /// Adds the flags of plug-ins to a command and to its subcommands, if these take settings. For each flag that a command
    /// already has, an error is added to `problems`.
    fn add_flags_recursively(&self, command: Command, problems: &mut Vec<Problem>) -> Command {
        let names: Vec<String> = command
            .get_subcommands()
            .map(|inner| inner.get_name().to_owned())
            .collect();
        let command = names.into_iter().fold(command, |command, name| {
            command.mut_subcommand(name, |inner| self.add_flags_recursively(inner, problems))
        });
        if command.get_arguments().all(|arg| arg.get_id() != POLICY) {
            // This command takes no settings.
            return command.mut_args(|arg| self.add_plugin_names_for_completion(arg));
        }
        for flag in self
            .all_flags()
            .filter(|flag| is_flag_name_taken(&command, flag.name))
        {
            let name = flag.name;
            let message =
                format!("a plug-in defines the flag `--{name}`, which `migsim` itself already has");
            let hint = "give the flag of the plug-in another name (`OptionFlag::with_option_name`)";
            problems.push(Problem::new(message).hint(hint));
        }
        if problems.is_empty() {
            self.add_flags_to_command(command)
        } else {
            command
        }
    }

    /// Adds the flags of plug-ins to one command, after the flags that choose the application and the policy, and the names of
    /// plug-ins for shell completion.
    fn add_flags_to_command(&self, command: Command) -> Command {
        let mut order: Vec<String> = Vec::new();
        for arg in command.get_arguments() {
            let id = arg.get_id().as_str();
            order.push(id.to_owned());
            match id {
                APPLICATION_FLAG => {
                    order.extend(self.application_flags.iter().map(|flag| flag_id(flag)));
                }
                POLICY => order.extend(self.policy_flags.iter().map(|flag| flag_id(flag))),
                _ => {}
            }
        }
        let heading_of = |id: &str| {
            let mut args = command.get_arguments();
            args.find(|arg| arg.get_id() == id)
                .and_then(Arg::get_help_heading)
                .unwrap_or("Options")
                .to_owned()
        };
        let under = |id: &str, flags: &[&'static OptionFlag]| -> Vec<Arg> {
            let heading = heading_of(id);
            flags
                .iter()
                .map(|flag| {
                    let arg = create_flag(flag).help_heading(heading.clone());
                    match self.default_value_text(flag) {
                        Some(defaults) => arg.help(format!("{} [default: {defaults}]", flag.help)),
                        None => arg,
                    }
                })
                .collect()
        };
        let mut args = under(APPLICATION_FLAG, &self.application_flags);
        args.extend(under(POLICY, &self.policy_flags));
        args.push(
            Arg::new(HELP_ALL_FLAG)
                .long(HELP_ALL_FLAG)
                .action(ArgAction::Help)
                .help("Print help on all flags"),
        );
        command.args(args).mut_args(|arg| {
            let place = order.iter().position(|id| arg.get_id() == id.as_str());
            let arg = self.add_plugin_names_for_completion(arg);
            match place {
                Some(place) if !arg.is_positional() => arg.display_order(place),
                _ => arg,
            }
        })
    }

    /// Returns the default value of a policy's flag in the form that help shows. If the default on the platforms of the papers
    /// differs from the default on other platforms, the text contains both values.
    fn default_value_text(&self, flag: &OptionFlag) -> Option<&String> {
        let all = self.default_text_by_flag.get_or_init(|| {
            let mut all = BTreeMap::new();
            for entry in self
                .registry
                .policies()
                .iter()
                .filter(|entry| !entry.flags.is_empty())
            {
                let own = neutral_options(entry).unwrap_or_default();
                let usual = entry.resolve(&json!({})).unwrap_or_default();
                for flag in entry.flags {
                    let own = own
                        .get(flag.option_name)
                        .filter(|own| !own.is_null())
                        .map(format_option_value);
                    all.entry(flag.name).or_insert(own.map(|own| {
                        let usual = format_option_value(&usual[flag.option_name]);
                        if own == usual {
                            own
                        } else {
                            format!("{own} on a platform of your own, {usual} in the papers")
                        }
                    }));
                }
            }
            all
        });
        all.get(flag.name)?.as_ref()
    }

    /// Adds the names of plug-ins for shell completion to a flag that selects an application, a policy, a trigger or a load.
    fn add_plugin_names_for_completion(&self, arg: Arg) -> Arg {
        let registry = self.registry;
        match arg.get_id().as_str() {
            APPLICATION_FLAG => arg.value_parser(text_parser(registry.workloads().names())),
            POLICY | DECIDE_POLICY => arg.value_parser(text_parser(registry.policies().names())),
            TRIGGER => arg.value_parser(text_parser(registry.triggers().names())),
            LOAD => arg.value_parser(text_parser(registry.loads().names())),
            _ => arg,
        }
    }
}

/// Identifier of the flag that selects the application; the following constants are identifiers of flags that select other
/// plug-ins.
const APPLICATION_FLAG: &str = "app";
const POLICY: &str = "policy";
const DECIDE_POLICY: &str = "named";
const TRIGGER: &str = "trigger";
const LOAD: &str = "load";

/// Returns the identifier of a flag without the prefix that marks flags of plug-ins.
fn without_plugin_prefix(id: &str) -> &str {
    id.strip_prefix(PLUGIN_PREFIX).unwrap_or(id)
}

/// Returns the identifier of a plug-in's flag, which has the prefix that marks flags of plug-ins.
fn flag_id(flag: &OptionFlag) -> String {
    format!("{PLUGIN_PREFIX}{}", flag.name)
}

/// Returns whether a command already has a flag with the name `name`.
fn is_flag_name_taken(command: &Command, name: &str) -> bool {
    let mut longs = command.get_arguments().filter_map(Arg::get_long);
    longs.any(|long| long == name) || ["help", HELP_ALL_FLAG, "version"].contains(&name)
}

/// Creates the command-line flag that a plug-in declares.
fn create_flag(flag: &OptionFlag) -> Arg {
    let shown = match flag.value_name {
        "" => flag.name.to_ascii_uppercase(),
        shown => shown.to_owned(),
    };
    let accepted = flag.accepted_values;
    Arg::new(flag_id(flag))
        .long(flag.name)
        .help(flag.help)
        .value_name(shown)
        .value_parser(ValueParser::new(move |text: &str| accepted.parse(text)))
}

#[cfg(test)]
mod tests {
    use crate::plugin::FlagValues;
    use clap::FromArgMatches;

    use super::*;
    use crate::policy::{Never, Policy, PolicyOptions};

    #[test]
    fn the_definition_of_the_command_line_is_consistent() {
        command_for_registry(&Registry::standard())
            .unwrap()
            .debug_assert();
    }

    #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(default)]
    struct Other {
        seed: u64,
    }

    impl PolicyOptions for Other {
        const FLAGS: &'static [OptionFlag] =
            &[OptionFlag::new("seed", FlagValues::Counts, "another seed")];

        fn policy(self) -> Result<Box<dyn Policy>> {
            Ok(Box::new(Never {}))
        }
    }

    #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    #[serde(default)]
    struct Spun {
        spin_count: u64,
    }

    impl PolicyOptions for Spun {
        const FLAGS: &'static [OptionFlag] =
            &[OptionFlag::new("spin", FlagValues::Counts, "how often")
                .with_option_name("spin_count")];

        fn policy(self) -> Result<Box<dyn Policy>> {
            Ok(Box::new(Never {}))
        }
    }

    #[test]
    fn a_flag_of_a_plug_in_sets_its_option() {
        let registry = Registry::standard().policy::<Spun>("spun", "-", "-");
        let command = command_for_registry(&registry).unwrap();
        command.clone().debug_assert();
        let layers = |line: &str| {
            let matches = command.clone().try_get_matches_from(line.split(' '));
            let arguments = Arguments::from_arg_matches(&matches.unwrap()).unwrap();
            let crate::cli::args::Command::Run(run) = arguments.command else {
                unreachable!("the line says run");
            };
            crate::cli::run::join_settings(&registry, &run.settings)
        };
        let set = layers("migsim run --app lu --policy spun --spin 3").unwrap();
        assert_eq!(set.get("policy.spun.spin_count"), Some(json!(3)));
        let error = layers("migsim run --app lu --spin 3")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("`--spin` is an option of the policy `spun`, not of `migbsp`"),
            "{error}"
        );
    }

    #[test]
    fn a_flag_of_the_command_is_refused_of_a_plug_in() {
        let registry = Registry::standard().policy::<Other>("other", "-", "-");
        let error = command_for_registry(&registry).unwrap_err().to_string();
        assert!(error.contains("the flag `--seed`"), "{error}");
    }
}
