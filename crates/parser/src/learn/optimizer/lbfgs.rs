//! L-BFGS (Nocedal 1980; Liu & Nocedal 1989): minimises a smooth function with curvature estimated from its last
//! steps.
//!
//! The direction is −H g, where H estimates the inverse Hessian. H is not stored: two loops over the last m steps s
//! and changes of gradient y apply it (Nocedal & Wright 2006, algorithm 7.4). A line search finds a step size that
//! meets the strong Wolfe conditions (algorithms 3.5 and 3.6),
//!
//! ```text
//! f(x + α d) ≤ f(x) + c₁ α g·d        |∇f(x + α d)·d| ≤ c₂ |g·d|
//! ```
//!
//! Value and gradient are computed together, so an evaluation is one pass over the data. Most steps need one
//! evaluation. The rest of a step costs O(m · variables). Past steps are stored as `f32`.

use std::collections::VecDeque;
use std::io;

use tutte_linear::{Checkpointed, Codec, invalid};

/// c₁, the least share of the decrease that the slope promises.
const SUFFICIENT: f64 = 1e-4;
/// c₂, the largest share of the slope that may remain.
const CURVATURE: f64 = 0.9;
/// Limit on evaluations in one line search.
const MOST_EVALUATIONS: usize = 30;

/// State of a minimisation.
#[derive(Clone, Debug)]
pub(crate) struct Minimiser {
    /// Current point.
    pub(crate) x: Vec<f64>,
    /// Value of the function at `x`.
    pub(crate) value: f64,
    /// Gradient at `x`.
    pub(crate) gradient: Vec<f64>,
    memory: usize,
    /// Last steps, oldest first.
    steps: VecDeque<Pair>,
}

/// A step s, its change of gradient y, and ρ = 1 / (y·s).
#[derive(Clone, Debug)]
struct Pair {
    s: Vec<f32>,
    y: Vec<f32>,
    rho: f64,
}

/// A step size in a line search, with value and slope there.
#[derive(Clone, Copy, Debug)]
struct Point {
    alpha: f64,
    value: f64,
    slope: f64,
}

impl Minimiser {
    /// Starts at a point. `function` returns the value and writes the gradient.
    pub(crate) fn new<E>(
        x: Vec<f64>,
        memory: usize,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> Result<f64, E>,
    ) -> Result<Self, E> {
        let mut gradient = vec![0.0; x.len()];
        let value = function(&x, &mut gradient)?;
        Ok(Self { x, value, gradient, memory, steps: VecDeque::new() })
    }

    /// Makes one step. Returns `false` if the line search finds no lower point.
    pub(crate) fn step<E>(
        &mut self,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> Result<f64, E>,
    ) -> Result<bool, E> {
        if self.search_along(self.direction(), function)? {
            return Ok(true);
        }
        if self.steps.is_empty() {
            return Ok(false);
        }
        // The curvature estimate may be misleading: retry along the negative gradient.
        self.steps.clear();
        self.search_along(self.direction(), function)
    }

    /// True if the gradient is close to zero: ‖∇f‖∞ < tolerance · max(1, ‖x‖).
    pub(crate) fn is_at_rest(&self, tolerance: f64) -> bool {
        let steepest = self.gradient.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
        steepest < tolerance * dot(&self.x, &self.x).sqrt().max(1.0)
    }

    /// Returns the direction −H g.
    fn direction(&self) -> Vec<f64> {
        let mut q: Vec<f64> = self.gradient.iter().map(|g| -g).collect();
        let mut alphas = Vec::with_capacity(self.steps.len());
        for Pair { s, y, rho } in self.steps.iter().rev() {
            let alpha = rho * mixed_dot(&q, s);
            add_scaled(&mut q, -alpha, y);
            alphas.push(alpha);
        }
        if let Some(Pair { y, rho, .. }) = self.steps.back() {
            let squared: f64 = y.iter().map(|y| f64::from(*y) * f64::from(*y)).sum();
            q.iter_mut().for_each(|q| *q /= rho * squared);
        }
        for (Pair { s, y, rho }, alpha) in self.steps.iter().zip(alphas.into_iter().rev()) {
            let beta = rho * mixed_dot(&q, y);
            add_scaled(&mut q, alpha - beta, s);
        }
        q
    }

    /// Moves along a direction to a point that meets the Wolfe conditions, or else to the lowest point found.
    /// Returns `false` if there is none.
    fn search_along<E>(
        &mut self,
        direction: Vec<f64>,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> Result<f64, E>,
    ) -> Result<bool, E> {
        let start = Point { alpha: 0.0, value: self.value, slope: dot(&self.gradient, &direction) };
        if start.slope >= 0.0 || !start.slope.is_finite() {
            return Ok(false);
        }
        let mut x = self.x.clone();
        let mut gradient = vec![0.0; x.len()];
        let mut evaluate = |alpha: f64, x: &mut [f64], gradient: &mut [f64]| -> Result<Point, E> {
            for ((x, from), d) in x.iter_mut().zip(&self.x).zip(&direction) {
                *x = from + alpha * d;
            }
            let value = function(x, gradient)?;
            Ok(Point { alpha, value, slope: dot(gradient, &direction) })
        };
        // Without a curvature estimate, the first try has at most length 1.
        let first = if self.steps.is_empty() {
            1.0 / dot(&self.gradient, &self.gradient).sqrt().max(1.0)
        } else {
            1.0
        };
        let mut search = LineSearch::new(start, first);
        let mut found = None;
        for _ in 0..MOST_EVALUATIONS {
            let Some(alpha) = search.next() else { break };
            let point = evaluate(alpha, &mut x, &mut gradient)?;
            if search.accepts(point) {
                found = Some(point);
                break;
            }
            search.narrow(point);
        }
        let point = match (found, search.low) {
            (Some(point), _) => point,
            // No point meets both conditions, but a lower one was found.
            (None, low) if low.alpha > 0.0 && low.value < start.value => {
                evaluate(low.alpha, &mut x, &mut gradient)?
            }
            _ => return Ok(false),
        };
        self.remember(&x, &gradient);
        self.x = x;
        self.gradient = gradient;
        self.value = point.value;
        Ok(true)
    }

    fn remember(&mut self, x: &[f64], gradient: &[f64]) {
        let difference = |new: &[f64], old: &[f64]| -> Vec<f32> {
            new.iter().zip(old).map(|(new, old)| (new - old) as f32).collect()
        };
        let s = difference(x, &self.x);
        let y = difference(gradient, &self.gradient);
        let product: f64 = s.iter().zip(&y).map(|(s, y)| f64::from(*s) * f64::from(*y)).sum();
        // A pair without positive curvature would make H indefinite.
        if product > 0.0 && self.memory > 0 {
            if self.steps.len() == self.memory {
                self.steps.pop_front();
            }
            self.steps.push_back(Pair { s, y, rho: 1.0 / product });
        }
    }
}

impl Checkpointed for Minimiser {
    fn checkpoint(&mut self, codec: &mut Codec<'_>) -> io::Result<()> {
        codec.table(&mut self.x)?;
        codec.value(&mut self.value)?;
        codec.table(&mut self.gradient)?;
        let mut steps = self.steps.len();
        codec.value(&mut steps)?;
        if steps > self.memory {
            let most = self.memory;
            return Err(invalid(format!(
                "the checkpoint has {steps} L-BFGS steps; expected at most {most}"
            )));
        }
        let size = self.x.len();
        let blank = || Pair { s: vec![0.0; size], y: vec![0.0; size], rho: 0.0 };
        self.steps.resize_with(steps, blank);
        for Pair { s, y, rho } in &mut self.steps {
            codec.table(s)?;
            codec.table(y)?;
            codec.value(rho)?;
        }
        Ok(())
    }
}

/// A line search: doubles the step size until an interval contains an acceptable point, then narrows the interval.
struct LineSearch {
    start: Point,
    /// Lowest point so far with sufficient decrease.
    low: Point,
    /// Other end of an interval that contains an acceptable point, once there is one.
    high: Option<Point>,
    next: f64,
}

impl LineSearch {
    fn new(start: Point, first: f64) -> Self {
        Self { start, low: start, high: None, next: first }
    }

    /// Returns the step size to try next; `None` if the interval is too narrow to split.
    fn next(&self) -> Option<f64> {
        let Some(high) = self.high else { return Some(self.next) };
        let (a, b) = (self.low, high);
        let width = b.alpha - a.alpha;
        if width.abs() <= 1e-12 * a.alpha.abs().max(b.alpha.abs()) {
            return None;
        }
        // Minimum of the cubic through both ends, kept away from either end.
        let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.alpha - b.alpha);
        let d2 = width.signum() * (d1 * d1 - a.slope * b.slope).sqrt();
        let cubic = b.alpha - width * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2);
        let (left, right) = (a.alpha.min(b.alpha), a.alpha.max(b.alpha));
        let margin = 0.1 * (right - left);
        let middle = 0.5 * (left + right);
        Some(if cubic.is_finite() { cubic.clamp(left + margin, right - margin) } else { middle })
    }

    /// True if a point has sufficient decrease, the first Wolfe condition.
    fn decreases(&self, point: Point) -> bool {
        point.value <= self.start.value + SUFFICIENT * point.alpha * self.start.slope
    }

    /// True if a point meets both Wolfe conditions.
    fn accepts(&self, point: Point) -> bool {
        self.decreases(point) && point.slope.abs() <= -CURVATURE * self.start.slope
    }

    /// Narrows the search by a point that was not accepted.
    fn narrow(&mut self, point: Point) {
        // A value of NaN fails this test, too.
        if !self.decreases(point) || point.value >= self.low.value {
            self.high = Some(point);
            return;
        }
        match self.high {
            None if point.slope < 0.0 => self.next = 2.0 * point.alpha,
            None => self.high = Some(self.low),
            Some(high) if point.slope * (high.alpha - self.low.alpha) >= 0.0 => {
                self.high = Some(self.low);
            }
            Some(_) => {}
        }
        self.low = point;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn mixed_dot(a: &[f64], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * f64::from(*b)).sum()
}

fn add_scaled(to: &mut [f64], factor: f64, vector: &[f32]) {
    to.iter_mut().zip(vector).for_each(|(to, v)| *to += factor * f64::from(*v));
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    type Function = fn(&[f64], &mut [f64]) -> f64;

    /// Minimises a function. Returns the last point and the number of evaluations.
    fn minimise(
        function: Function,
        x: Vec<f64>,
        memory: usize,
        tolerance: f64,
    ) -> (Vec<f64>, usize) {
        let mut evaluations = 0;
        let mut f = |x: &[f64], gradient: &mut [f64]| {
            evaluations += 1;
            Ok::<f64, Infallible>(function(x, gradient))
        };
        let Ok(mut minimiser) = Minimiser::new(x, memory, &mut f);
        for _ in 0..2000 {
            let before = minimiser.value;
            let Ok(moved) = minimiser.step(&mut f);
            assert!(minimiser.value <= before);
            if !moved || minimiser.is_at_rest(tolerance) {
                break;
            }
        }
        (minimiser.x, evaluations)
    }

    fn bowl(x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (i, (x, g)) in x.iter().zip(gradient).enumerate() {
            let steepness = 1.0 + 50.0 * i as f64;
            let centre = i as f64 - 3.0;
            value += 0.5 * steepness * (x - centre).powi(2);
            *g = steepness * (x - centre);
        }
        value
    }

    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        let a = 1.0 - x[0];
        let b = x[1] - x[0] * x[0];
        gradient[0] = -2.0 * a - 400.0 * b * x[0];
        gradient[1] = 200.0 * b;
        a * a + 100.0 * b * b
    }

    fn steep(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient[0] = 1e6 * x[0].sinh();
        1e6 * x[0].cosh()
    }

    #[test]
    fn quadratic_functions_are_minimised() {
        for memory in [1, 3, 10] {
            let (x, evaluations) = minimise(bowl, vec![5.0; 12], memory, 1e-7);
            for (i, x) in x.iter().enumerate() {
                assert!((x - (i as f64 - 3.0)).abs() < 1e-6);
            }
            assert!(memory < 10 || evaluations < 80, "{evaluations}");
        }
    }

    #[test]
    fn the_rosenbrock_function_is_minimised() {
        let (x, evaluations) = minimise(rosenbrock, vec![-1.2, 1.0], 10, 1e-9);
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
        assert!(evaluations < 100, "{evaluations}");
    }

    #[test]
    fn steep_functions_are_minimised() {
        let (x, _) = minimise(steep, vec![10.0], 10, 1e-9);
        assert!(x[0].abs() < 1e-6, "{x:?}");
    }

    #[test]
    fn the_minimum_is_not_left() {
        let mut f = |x: &[f64], g: &mut [f64]| Ok::<f64, Infallible>(bowl(x, g));
        let centre = (0..4).map(|i| f64::from(i) - 3.0).collect();
        let Ok(mut minimiser) = Minimiser::new(centre, 5, &mut f);
        assert!(minimiser.is_at_rest(1e-12));
        let Ok(moved) = minimiser.step(&mut f);
        assert!(!moved);
    }
}
