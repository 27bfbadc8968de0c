//! Replaces the rules of a zone with routing `RuleBased` (version 3) by the routes that the rules describe, in a zone with
//! routing `Full`.
//!
//! | element | becomes |
//! | --- | --- |
//! | `<ASroute src="P" dst="Q">` | one route for each pair of zones whose names match the regular expressions P and Q |
//! | `<route src="P" dst="Q">` | one route for each pair of hosts or routers whose names match P and Q; a host whose name matches both P and Q gets a route to itself |
//! | `$1src`, `$2dst` in gateways and links | the text of a group of P or Q; `$0src` is the whole match |
//!
//! The first rule that matches a pair is used. As in `SimGrid`, `symmetrical` has no effect: the route back needs another rule.

use std::{collections::BTreeSet, fmt::Write as _, ops::Range};

use regex_lite::{Captures, Regex};
use roxmltree::Node;

use super::export::escape_xml_attribute;
use migsim_base::error::Problem;

/// Maximum length of the text after all replacements \[B\].
pub(super) const MAX_TEXT_LENGTH: usize = 1 << 28;

/// Replaces all rules of a text by routes; returns the new text, or `None` if no zone has rules. `at` adds the line and column of
/// an element to a problem.
///
/// # Errors
/// A pattern is not a regular expression, or a `$` refers to a missing group; the error has the line and column of the rule.
pub(super) fn replace_routing_rules(
    root: Node<'_, '_>,
    at: impl Fn(Node<'_, '_>, Problem) -> Problem,
) -> Result<Option<String>, Problem> {
    if !matches!(root.attribute("version"), Some("3" | "3.0")) {
        return Ok(None);
    }
    let text = root.document().input_text();
    let mut new = String::new();
    let mut done = 0;
    let mut pairs = BTreeSet::new();
    for node in root.descendants().filter(Node::is_element) {
        if let Some(value) = position_of_rule_based_routing(node) {
            new.extend([&text[done..value.start], "Full"]);
            done = value.end;
        }
        let zone = node
            .parent()
            .filter(|zone| position_of_rule_based_routing(*zone).is_some());
        if let Some(zone) = zone.filter(|_| endpoint_element_names(node).is_some()) {
            let range = node.range();
            new.push_str(&text[done..range.start]);
            let routes = RoutingRule::new(node)
                .and_then(|rule| rule.write_routes(zone, &mut pairs))
                .map_err(|problem| at(node, problem))?;
            new.extend(routes.chars().map(|c| if c == '\n' { ' ' } else { c }));
            new.extend(text[range.clone()].chars().filter(|c| *c == '\n'));
            done = range.end;
        }
        if new.len() > MAX_TEXT_LENGTH {
            return Err(at(
                node,
                Problem::new(
                "the routes that the patterns in `src` and `dst` describe are longer than 268 MB of text",
            ).hint("describe the hosts by `<cluster>` elements, which need fewer routes"),
            ));
        }
    }
    new.push_str(&text[done..]);
    Ok((done > 0).then_some(new))
}

fn position_of_rule_based_routing(zone: Node<'_, '_>) -> Option<Range<usize>> {
    let routing = zone.attribute_node("routing")?;
    (routing.value() == "RuleBased").then(|| routing.range_value())
}

fn endpoint_element_names(rule: Node<'_, '_>) -> Option<&'static [&'static str]> {
    match rule.tag_name().name() {
        "route" => Some(&["host", "router"]),
        "ASroute" | "zoneRoute" => Some(&["AS", "zone", "cluster", "peer"]),
        _ => None,
    }
}

/// A rule of a zone with routing `RuleBased`: it describes one route for each pair of members whose names match two patterns.
struct RoutingRule<'a, 'input> {
    /// XML element of the rule.
    node: Node<'a, 'input>,
    origin_and_destination_patterns: [Regex; 2],
}

impl<'a> RoutingRule<'a, '_> {
    fn new(node: Node<'a, 'a>) -> Result<RoutingRule<'a, 'a>, Problem> {
        let pattern = |attribute: &str| {
            let Some(pattern) = node.attribute(attribute) else {
                return Err(Problem::new(format!("attribute `{attribute}` is missing")));
            };
            Regex::new(pattern).map_err(|error| {
                let message = format!("`{pattern}` is not a regular expression: {error}");
                Problem::new(message).key(attribute).hint(
                    "write a pattern such as `^AS_(.*)$`; refer to its group as `$1src` or `$1dst`",
                )
            })
        };
        Ok(RoutingRule {
            node,
            origin_and_destination_patterns: [pattern("src")?, pattern("dst")?],
        })
    }

    fn write_routes(
        &self,
        zone: Node<'a, 'a>,
        pairs: &mut BTreeSet<[usize; 2]>,
    ) -> Result<String, Problem> {
        let kinds = endpoint_element_names(self.node).unwrap_or(&[]);
        let members = || {
            let is_member = |child: &Node<'_, '_>| kinds.contains(&child.tag_name().name());
            zone.children()
                .filter(is_member)
                .filter_map(|child| Some((child.id(), child.attribute("id")?)))
        };
        let matching = |pattern: &Regex| -> Vec<_> {
            members()
                .filter_map(|(id, name)| Some((id, name, pattern.captures(name)?)))
                .collect()
        };
        let [from, to] = [0, 1].map(|end| matching(&self.origin_and_destination_patterns[end]));
        let mut routes = String::new();
        for (a, source, src) in &from {
            for (b, target, dst) in &to {
                let is_asked = a != b || self.node.has_tag_name("route");
                if is_asked
                    && routes.len() <= MAX_TEXT_LENGTH
                    && pairs.insert([a, b].map(|id| id.get_usize()))
                {
                    routes.push_str(&self.write_route([source, target], [src, dst])?);
                }
            }
        }
        Ok(routes)
    }

    /// Returns the XML text of the route between one pair of members, in one direction.
    fn write_route(&self, ends: [&str; 2], groups: [&Captures<'_>; 2]) -> Result<String, Problem> {
        let tag = self.node.tag_name().name();
        let [source, target] = ends.map(escape_xml_attribute);
        let mut route = format!("<{tag} src=\"{source}\" dst=\"{target}\" symmetrical=\"no\"");
        let attributes = |route: &mut String, node: Node<'_, '_>, left_out: &[&str]| {
            let given = node.attributes();
            for attribute in given.filter(|attribute| !left_out.contains(&attribute.name())) {
                let value = insert_groups(attribute.value(), groups)?;
                let _ = write!(
                    route,
                    " {}=\"{}\"",
                    attribute.name(),
                    escape_xml_attribute(&value)
                );
            }
            Ok::<(), Problem>(())
        };
        attributes(&mut route, self.node, &["src", "dst", "symmetrical"])?;
        route.push('>');
        for child in self.node.children().filter(Node::is_element) {
            let _ = write!(route, "<{}", child.tag_name().name());
            attributes(&mut route, child, &[])?;
            route.push_str("/>");
        }
        let _ = write!(route, "</{tag}>");
        Ok(route)
    }
}

/// Replaces references such as `$1src` and `$2dst` in a text by the parts of the names that the groups of the patterns matched.
fn insert_groups(text: &str, groups: [&Captures<'_>; 2]) -> Result<String, Problem> {
    let mut parts = text.split('$');
    let mut new = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let digits = part.len() - part.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = part.split_at(digits);
        let side = ["src", "dst"]
            .iter()
            .position(|side| rest.starts_with(side));
        let (Ok(number), Some(side)) = (number.parse::<usize>(), side) else {
            return Err(Problem::new(format!(
                "`${part}` in `{text}` does not name a group of the pattern in `src` or `dst`"
            ))
            .hint("write `$1src` for the first group of `src`, `$1dst` for that of `dst`"));
        };
        if number >= groups[side].len() {
            let name = ["src", "dst"][side];
            let count = groups[side].len() - 1;
            return Err(Problem::new(format!(
                "`${number}{name}` in `{text}` names a group that does not exist: number of groups in the pattern of `{name}`: {count}"
            )).hint("put each group of the pattern in parentheses: `^AS_(.*)$`"));
        }
        new.push_str(groups[side].get(number).map_or("", |group| group.as_str()));
        new.push_str(&rest[3..]);
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::super::from_simgrid;
    use crate::LoadedPlatform;
    use migsim_base::units::HostId;

    /// Three clusters joined by rules; one of them is inside a zone of its own.
    const RULES: &str = "<platform version='3'>
<AS id='top' routing='RuleBased'>
<cluster id='AS_a' prefix='a-' suffix='' radical='1-2' power='1' bw='1' lat='0'/>
<cluster id='AS_b' prefix='b-' suffix='' radical='1-2' power='1' bw='1' lat='0'/>
<AS id='far' routing='RuleBased'><host id='h1' power='1'/><host id='h2' power='1'/><link id='l1' bandwidth='1' latency='0'/><link id='l2' bandwidth='1' latency='0'/>
<route src='^h(.)$' dst='^h(.)$'><link_ctn id='l$1src'/><link_ctn id='l$1dst'/></route></AS>
<link id='link_a' bandwidth='1' latency='0'/><link id='link_b' bandwidth='1' latency='0'/>
<ASroute src='^AS_(.*)$' dst='^AS_(.*)$' symmetrical='YES'
 gw_src='$1src-AS_$1src_router' gw_dst='$1dst-AS_$1dst_router'>
<link_ctn id='link_$1src'/><link_ctn id='link_$1dst'/></ASroute>
<ASroute src='AS_(.)' dst='far' gw_src='$1src-$0src_router' gw_dst='h2'><link_ctn id='link_$1src'/></ASroute>
<ASroute src='.' dst='far' gw_src='never' gw_dst='taken'><link_ctn id='at all'/></ASroute>
</AS></platform>";

    fn route(loaded: &LoadedPlatform, from: &str, to: &str) -> Option<Vec<String>> {
        let platform = &loaded.platform;
        let host = |name: &str| {
            let at = platform.hosts.iter().position(|host| host.name == name);
            HostId(u32::try_from(at.unwrap()).unwrap())
        };
        let route = platform.route(host(from), host(to))?;
        let names = route
            .links()
            .map(|link| platform.links[link.index()].name.clone());
        Some(names.collect())
    }

    #[test]
    fn the_first_rule_that_matches_gives_the_route() {
        // The last rule matches only pairs that earlier rules match.
        let loaded = from_simgrid("p.xml", RULES).unwrap();
        let route = |from, to| route(&loaded, from, to).unwrap().join(" ");
        assert_eq!(
            route("a-1", "b-2"),
            "AS_a_link_1_UP link_a link_b AS_b_link_2_DOWN"
        );
        assert_eq!(route("b-1", "h2"), "AS_b_link_1_UP link_b");
        assert_eq!(route("h2", "h1"), "l2 l1");
        // Rules give no route back, and also match a host with itself.
        assert_eq!(super::tests::route(&loaded, "h2", "b-1"), None);
        assert_eq!(route("h1", "h1"), "l1 l1");
    }

    #[test]
    fn errors_of_rules_have_their_place() {
        for (old, new, message, place) in [
            (
                "'^AS_(.*)$' dst",
                "'^AS_(.*$' dst",
                "`^AS_(.*$` is not a regular expression",
                "p.xml:8:1",
            ),
            (
                "link_$1src'/><link_ctn id='link",
                "link_$2src'/><link_ctn id='link",
                "number of groups in the pattern of `src`: 1",
                "p.xml:8:1",
            ),
            (
                "'link_$1dst'",
                "'link_$dst'",
                "`$dst` in `link_$dst` does not name a group of the pattern in `src` or `dst`",
                "p.xml:8:1",
            ),
            (
                "'link_$1dst'",
                "'lnk_$1dst'",
                "unknown link `lnk_b`",
                "p.xml:8:",
            ),
            (
                "<ASroute src='AS_(.)' dst='far'",
                "<ASroute dst='far'",
                "attribute `src` is missing",
                "p.xml:11:1",
            ),
        ] {
            assert!(RULES.contains(old), "{old}");
            let error = from_simgrid("p.xml", &RULES.replace(old, new))
                .unwrap_err()
                .to_string();
            assert!(error.contains(message) && error.contains(place), "{error}");
        }
    }
}
