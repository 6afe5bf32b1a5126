//! Joint probabilities of arcs, covariances and second derivatives.

use crate::matrix::check_arc;
use crate::nonprojective::kernel::Kernel;
use crate::nonprojective::solve::{self, SolveWorkspace};
use crate::workspace::{check_function, unchecked_arc_covariances};
use crate::{ArcMatrix, Constraints, Error, TreeDistribution, Workspace, projective};

/// Largest error bound with which a joint probability from the kernel is used.
const LARGEST_ERROR: f64 = 1e-13;
/// Functions with values above this are scaled before they are multiplied.
pub(crate) const LARGE: f64 = 1e100;

impl TreeDistribution {
    /// P(both arcs are in the tree).
    ///
    /// In non-projective sets, O(1) after one O(n³) solve: P(e, f) = μ_e μ_f − K(e,f)·K(f,e). In
    /// projective sets, and where that difference would lose digits, one O(n³) solve for each pair.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// let both = d.pair_marginal((0, 1), (1, 2))?;
    /// let given = both / d.marginal(0, 1)?; // P(1 → 2, given that 1 is a root word)
    /// assert!((given - 0.375).abs() < 1e-12 && d.marginal(1, 2)? < 0.26);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn pair_marginal(
        &self,
        first: (usize, usize),
        second: (usize, usize),
    ) -> Result<f64, Error> {
        // Does not allocate: callers ask for every pair of arcs.
        let mut pair = [first, second];
        pair.sort_unstable_by_key(|&(head, modifier)| (modifier, head));
        self.joint_of(if first == second { &pair[..1] } else { &pair })
    }

    /// P(all of these arcs are in the tree); 1 for no arcs.
    ///
    /// In non-projective sets, O(k³) for k arcs after one O(n³) solve: the determinant of their kernel.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// // Of the 16 trees one is the chain 0 → 1 → 2 → 3.
    /// let chain = d.joint_marginal(&[(0, 1), (1, 2), (2, 3)])?;
    /// assert!((chain - 1.0 / 16.0).abs() < 1e-12);
    /// assert_eq!(d.pair_marginal((1, 2), (3, 2))?, 0.0); // a word has one head
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchArc`].
    pub fn joint_marginal(&self, arcs: &[(usize, usize)]) -> Result<f64, Error> {
        let mut distinct = arcs.to_vec();
        distinct.sort_unstable_by_key(|&(head, modifier)| (modifier, head));
        distinct.dedup();
        self.joint_of(&distinct)
    }

    /// P(all of these arcs), which must be distinct and sorted by modifier.
    fn joint_of(&self, distinct: &[(usize, usize)]) -> Result<f64, Error> {
        for &(head, modifier) in distinct {
            check_arc(self.words(), head, modifier)?;
        }
        if distinct.windows(2).any(|pair| pair[0].1 == pair[1].1) {
            return Ok(0.0); // two heads for one word
        }
        match *distinct {
            [] => return Ok(1.0),
            [(head, modifier)] => return self.marginal(head, modifier),
            _ => {}
        }
        if let Some((value, error)) = self.joint_by_kernel(distinct)
            && error <= LARGEST_ERROR
        {
            return Ok(value);
        }
        let all = distinct
            .iter()
            .fold(Constraints::new(), |all, &(head, modifier)| all.require_arc(head, modifier));
        Ok(self.log_prob_of(&all)?.exp())
    }

    /// P(all of these arcs) by the kernel, and a bound of its error, for at least two existing arcs.
    /// O(k³). `None` in projective sets, and if the weights leave the range of `f64`.
    pub(crate) fn joint_by_kernel(&self, distinct: &[(usize, usize)]) -> Option<(f64, f64)> {
        let kernel = self.kernel()?;
        Some(match *distinct {
            [first, second] => kernel.pair(first, second),
            _ => kernel.joint(distinct),
        })
    }

    /// Cov(1_e, G) for every arc e and one function G(y) = Σ_{e∈y} g_e. O(n³).
    ///
    /// Equally: ∂μ_e/∂t at scores θ + t·g; the Hessian of log Z times g; Σ_f g_f ∂μ_f/∂θ_e, the
    /// vector–Jacobian product that back-propagation through the marginals needs.
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(2), TreeSet::NonProjectiveMultiRoot)?;
    /// let mut g = ArcMatrix::zeros(2);
    /// g[(0, 1)] = 1.0; // G: is 1 a root word?
    /// let c = d.arc_covariances(&g)?;
    /// let p = d.marginal(0, 1)?;
    /// assert!((c[(0, 1)] - p * (1.0 - p)).abs() < 1e-12);
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::BadScore`] if `g` is not a number on an allowed arc.
    #[doc(alias = "hessian_vector_product")]
    #[doc(alias = "vjp")]
    pub fn arc_covariances(&self, g: &ArcMatrix) -> Result<ArcMatrix, Error> {
        check_function(self.scores(), g)?;
        Ok(self.unchecked_covariances(g))
    }

    /// Cov(F, G) of two functions F(y) = Σ f_e, G(y) = Σ g_e; ±∞ if beyond `f64`. O(n³).
    ///
    /// ```
    /// # use tutte_trees::{ArcMatrix, TreeDistribution, TreeSet};
    /// let d = TreeDistribution::new(ArcMatrix::zeros(3), TreeSet::NonProjectiveMultiRoot)?;
    /// let roots = ArcMatrix::from_fn(3, |head, _| if head == 0 { 1.0 } else { 0.0 });
    /// let lengths = ArcMatrix::from_fn(3, |head, modifier| head.abs_diff(modifier) as f64);
    /// assert!((d.expectation(&roots)? - 1.5).abs() < 1e-12);        // root words in a tree
    /// assert!((d.covariance(&roots, &roots)? - 0.375).abs() < 1e-12); // and their variance
    /// assert!(d.covariance(&roots, &lengths)? > 0.0); // more root words, longer arcs
    /// # Ok::<(), tutte_trees::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::DifferentLengths`]; [`Error::BadScore`] if `f` or `g` is not a number on an allowed
    /// arc.
    pub fn covariance(&self, f: &ArcMatrix, g: &ArcMatrix) -> Result<f64, Error> {
        check_function(self.scores(), f)?;
        check_function(self.scores(), g)?;
        Ok(self.unchecked_covariance(f, g))
    }

    /// Cov(F, G) for functions that are numbers wherever an arc is allowed.
    pub(crate) fn unchecked_covariance(&self, f: &ArcMatrix, g: &ArcMatrix) -> f64 {
        let size = |f: &ArcMatrix| {
            let allowed = f.arcs().filter(|&(h, m, _)| self.scores()[(h, m)] > f64::NEG_INFINITY);
            allowed.fold(0.0f64, |size, (.., value)| size.max(value.abs()))
        };
        let f_size = size(f);
        let g_size = size(g);
        if f_size.max(g_size) <= LARGE {
            return self.moderate_covariance(f, g);
        }
        // Products of such values overflow: scale both to 1 and back.
        let scaled = |f: &ArcMatrix, size: f64| {
            let mut scaled = f.clone();
            scaled.map_in_place(|value| if size > 0.0 { value / size } else { value });
            scaled
        };
        self.moderate_covariance(&scaled(f, f_size), &scaled(g, g_size)) * f_size * g_size
    }

    /// Cov(F, G) for functions whose values are at most [`LARGE`].
    fn moderate_covariance(&self, f: &ArcMatrix, g: &ArcMatrix) -> f64 {
        if self.tree_set().is_projective() {
            let roots = self.tree_set().roots();
            return projective::moments(&self.shifted, roots, f, g).covariance;
        }
        // A constant per word changes F by a constant. Centred, large values do not cancel.
        let mut centred = f.clone();
        for modifier in 1..=self.words() {
            let heads = || (0..=self.words()).filter(move |&head| head != modifier);
            let allowed = |head: usize| self.marginals()[(head, modifier)] > 0.0;
            let mean: f64 = heads()
                .filter(|&head| allowed(head))
                .map(|head| self.marginals()[(head, modifier)] * f[(head, modifier)])
                .sum();
            for head in heads() {
                centred[(head, modifier)] -= mean;
            }
        }
        let covariances = self.unchecked_covariances(g);
        covariances
            .arcs()
            .filter(|&(_, _, c)| c != 0.0)
            .map(|(head, modifier, c)| c * centred[(head, modifier)])
            .sum()
    }

    /// Cov(1_e, G) for every arc e and a `g` that is a number wherever an arc is allowed.
    pub(crate) fn unchecked_covariances(&self, g: &ArcMatrix) -> ArcMatrix {
        let mut covariances = ArcMatrix::default();
        unchecked_arc_covariances(
            &self.shifted,
            g,
            self.tree_set(),
            self.marginals(),
            &mut Workspace::default(),
            &mut covariances,
        );
        covariances
    }

    fn kernel(&self) -> Option<&Kernel> {
        let make = || {
            if self.tree_set().is_projective() {
                return None;
            }
            let mut kernel = Kernel::default();
            let roots = self.tree_set().roots();
            let ws = &mut SolveWorkspace::default();
            solve::kernel(&self.shifted, roots, ws, &mut kernel).then_some(kernel)
        };
        self.kernel.get_or_init(make).as_ref()
    }
}
