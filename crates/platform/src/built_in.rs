//! The built-in platforms: copies of the files in `platforms/` that are compiled into the program.

use serde_json::Value;

const BUILT_IN: &[(&str, &str)] = &[
    (
        "authors-2015.json",
        include_str!("../../../platforms/authors-2015.json"),
    ),
    (
        "grid5000.json",
        include_str!("../../../platforms/grid5000.json"),
    ),
    ("lbm.json", include_str!("../../../platforms/lbm.json")),
    (
        "sw-dynamic.json",
        include_str!("../../../platforms/sw-dynamic.json"),
    ),
    (
        "sw-dynamic-t10.json",
        include_str!("../../../platforms/sw-dynamic-t10.json"),
    ),
    (
        "sw-dynamic-t25.json",
        include_str!("../../../platforms/sw-dynamic-t25.json"),
    ),
    (
        "sw-dynamic-t75.json",
        include_str!("../../../platforms/sw-dynamic-t75.json"),
    ),
    (
        "sw-dynamic-t100.json",
        include_str!("../../../platforms/sw-dynamic-t100.json"),
    ),
    ("ufrgs.json", include_str!("../../../platforms/ufrgs.json")),
    (
        "ufrgs-as-printed.json",
        include_str!("../../../platforms/ufrgs-as-printed.json"),
    ),
    (
        "sw-irregular.json",
        include_str!("../../../platforms/sw-irregular.json"),
    ),
    (
        "ufrgs-sw.json",
        include_str!("../../../platforms/ufrgs-sw.json"),
    ),
];

/// Returns the platforms that are compiled into the program, each as file name and content.
pub fn built_in_platforms() -> &'static [(&'static str, &'static str)] {
    BUILT_IN
}

pub(super) fn equal_built_in_platform(file: &Value) -> Option<&'static str> {
    let name = file.get("name")?.as_str()?;
    let known = BUILT_IN.iter().find_map(|(file, text)| {
        let stem = file.strip_suffix(".json")?;
        (stem == name).then_some((stem, text))
    });
    let (name, text) = known?;
    let own: Value = serde_json::from_str(text).ok()?;
    (own == *file).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_json;

    #[test]
    fn a_copy_is_the_built_in_platform_until_a_value_is_edited() {
        let (_, text) = built_in_platforms()
            .iter()
            .find(|(file, _)| *file == "ufrgs.json")
            .unwrap();
        let copied = |text: &str| {
            from_json("copy.json", text)
                .unwrap()
                .equal_built_in_platform
        };
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(copied(&value.to_string()), Some("ufrgs"));
        let edited = text.replace("1.2 GHz", "1.3 GHz");
        assert_ne!(edited, **text);
        assert_eq!(copied(&edited), None);
    }
}
