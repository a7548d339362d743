//! RAPID's figures for traces that were recorded from Java programs: racy events and racy lines.

mod reported;

use deadheat_detect::{Hb, Races, Shb, SyncP, Wcp};
use deadheat_trace::text;
use reported::run;

#[test]
fn figures_of_rapid() {
    // hb and wcp find the same, and so do shb and syncp.
    let expected = [
        ("demo_example", (0, 0), (0, 0)),
        ("array", (0, 0), (0, 0)),
        ("critical", (3, 3), (3, 3)),
        ("account", (7, 4), (1, 1)),
        ("airlinetickets", (22, 3), (22, 3)),
        ("boundedbuffer", (48, 7), (46, 5)),
    ];
    for (name, hb, shb) in expected {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/traces");
        let text = std::fs::read_to_string(format!("{folder}/{name}.std")).unwrap();
        let trace = text::parse_std(&text).unwrap();
        let figures = |races: Races| (races.racy_events(), races.racy_places());
        assert_eq!(figures(run(Hb::new(), &trace)), hb, "{name}, hb");
        assert_eq!(figures(run(Wcp::new(), &trace)), hb, "{name}, wcp");
        assert_eq!(figures(run(Shb::new(), &trace)), shb, "{name}, shb");
        assert_eq!(figures(run(SyncP::new(), &trace)), shb, "{name}, syncp");
    }
}
