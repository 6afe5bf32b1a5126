//! Text form of objectives: `likelihood`, `2*likelihood + 0.1*entropy`, `softmax-margin(1.5)`, and
//! `risk(0.1..10)` with annealed γ.

use std::fmt;
use std::str::FromStr;

use super::{Anneal, Objective, Term};
use crate::Error;

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Likelihood => f.write_str("likelihood"),
            Term::Distil => f.write_str("distil"),
            Term::Softmax => f.write_str("softmax"),
            Term::SoftmaxMargin { cost } => write!(f, "softmax-margin({cost})"),
            Term::Risk { gamma } if gamma.from == gamma.to => write!(f, "risk({})", gamma.to),
            Term::Risk { gamma } => write!(f, "risk({}..{})", gamma.from, gamma.to),
            Term::Entropy => f.write_str("entropy"),
            Term::Renyi { order } => write!(f, "renyi({order})"),
        }
    }
}

impl FromStr for Term {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::Setting(format!(
                "{text:?} is not a term of an objective; write likelihood, softmax, distil, \
                 softmax-margin(COST), risk(GAMMA), risk(FROM..TO), entropy or renyi(ORDER)"
            ))
        };
        let text = text.trim();
        let (name, inside) = match text.split_once('(') {
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
            None => (text, None),
        };
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        match (name.trim(), inside) {
            ("likelihood", None) => Ok(Term::Likelihood),
            ("distil", None) => Ok(Term::Distil),
            ("softmax", None) => Ok(Term::Softmax),
            ("entropy", None) => Ok(Term::Entropy),
            ("renyi", Some(order)) => Ok(Term::Renyi { order: number(order)? }),
            ("softmax-margin", cost) => {
                Ok(Term::SoftmaxMargin { cost: cost.map_or(Ok(1.0), number)? })
            }
            ("risk", gamma) => {
                let gamma = gamma.unwrap_or("1");
                let (from, to) = gamma.split_once("..").unwrap_or((gamma, gamma));
                Ok(Term::Risk { gamma: Anneal { from: number(from)?, to: number(to)? } })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (factor, term)) in self.terms.iter().enumerate() {
            let plus = if number > 0 { " + " } else { "" };
            match *factor {
                1.0 => write!(f, "{plus}{term}")?,
                factor => write!(f, "{plus}{factor}*{term}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Objective {
    type Err = Error;

    /// ```
    /// use tutte::learn::objective::{Objective, entropy, likelihood};
    ///
    /// let objective: Objective = "2*likelihood + -0.1*entropy".parse()?;
    /// assert_eq!(objective, 2.0 * likelihood() + -0.1 * entropy());
    /// # Ok::<(), tutte::Error>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, Error> {
        let term = |term: &str| {
            let Some((factor, term)) = term.split_once('*') else {
                return Ok((1.0, term.parse()?));
            };
            let factor = factor.trim().parse().map_err(|_| {
                Error::Setting(format!(
                    "{:?} is not a number; write a term as FACTOR*TERM, for example 0.1*entropy",
                    factor.trim()
                ))
            })?;
            Ok((factor, term.parse()?))
        };
        text.split('+').map(term).collect::<Result<_, Error>>().map(|terms| Self { terms })
    }
}
