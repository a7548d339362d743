//! Rays among spheres: lines of the picture are handed out by a counter, what was drawn goes into one list behind a
//! lock, and threads live in a scope. After the manner of raytrace.

use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[derive(Clone, Copy)]
struct Point([f64; 3]);

impl Point {
    fn with(self, other: Point, way: f64) -> Point {
        Point(std::array::from_fn(|axis| self.0[axis] + other.0[axis] * way))
    }

    fn dot(self, other: Point) -> f64 {
        (0..3).map(|axis| self.0[axis] * other.0[axis]).sum()
    }

    fn unit(self) -> Point {
        let length = self.dot(self).sqrt();
        Point(self.0.map(|part| part / length))
    }
}

struct Sphere {
    middle: Point,
    radius: f64,
    mirrors: f64,
}

impl Sphere {
    fn hit(&self, from: Point, way: Point) -> Option<f64> {
        let apart = from.with(self.middle, -1.0);
        let half = apart.dot(way);
        let rest = half * half - apart.dot(apart) + self.radius * self.radius;
        let far = -half - rest.max(0.0).sqrt();
        (rest > 0.0 && far > 1e-6).then_some(far)
    }
}

/// How many rays were followed. Threads may not add to it side by side: only the racing build does.
struct Count(UnsafeCell<u64>);
// SAFETY: there is none: this is the race.
unsafe impl Sync for Count {}

fn light(scene: &[Sphere], from: Point, way: Point, depth: u32) -> f64 {
    let hits = scene.iter().filter_map(|sphere| Some((sphere.hit(from, way)?, sphere)));
    let Some((far, sphere)) = hits.min_by(|one, other| one.0.total_cmp(&other.0)) else {
        return 0.5 + 0.5 * way.0[1];
    };
    let place = from.with(way, far);
    let out = place.with(sphere.middle, -1.0).unit();
    let own = out.dot(Point([0.5, 0.7, -0.5])).max(0.0);
    if depth == 0 {
        return own;
    }
    let back = way.with(out, -2.0 * way.dot(out));
    own * (1.0 - sphere.mirrors) + sphere.mirrors * light(scene, place, back, depth - 1)
}

fn main() {
    let mut given = std::env::args().skip(1).map(|word| word.parse::<usize>().expect("a number"));
    let threads = given.next().unwrap_or(4);
    let side = given.next().unwrap_or(700);
    let scene: Vec<Sphere> = (0..27)
        .map(|k| Sphere {
            middle: Point([(k % 3) as f64 - 1.0, (k / 3 % 3) as f64 - 1.0, 3.0 + (k / 9) as f64]),
            radius: 0.4,
            mirrors: 0.1 * (k % 7) as f64,
        })
        .collect();
    let next = AtomicUsize::new(0);
    let drawn: Mutex<Vec<(usize, Vec<f64>)>> = Mutex::new(Vec::new());
    let rays = Count(UnsafeCell::new(0));
    let is_racing = cfg!(racing);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let y = next.fetch_add(1, Ordering::Relaxed);
                    if y >= side {
                        break;
                    }
                    let line = (0..side).map(|x| {
                        let part = |at: usize| at as f64 / side as f64 * 2.0 - 1.0;
                        let way = Point([part(x), -part(y), 1.5]).unit();
                        light(&scene, Point([0.0; 3]), way, 3)
                    });
                    let line: Vec<f64> = line.collect();
                    if is_racing {
                        let rays = &rays;
                        // SAFETY: none, as above. RACE!
                        unsafe { *rays.0.get() += side as u64 };
                    }
                    drawn.lock().expect("nobody panics").push((y, line));
                }
            });
        }
    });
    let mut drawn = drawn.into_inner().expect("nobody panics");
    drawn.sort_by_key(|(y, _)| *y);
    let sum: f64 = drawn.iter().flat_map(|(_, line)| line).sum();
    println!("raytrace: {:.6}", sum / (side * side) as f64);
}
