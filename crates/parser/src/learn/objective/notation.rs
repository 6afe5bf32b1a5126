//! Text form of objectives: `likelihood`, `2*likelihood + 0.1*entropy`, `softmax-margin(1.5)`, `risk(0.1..10)` with
//! annealed γ, and `1..0*likelihood + 0..1*decoded-risk(0.1)` with factors that change from pass to pass.

use std::fmt;
use std::str::FromStr;

use super::{Anneal, Objective, Ramp, Term};
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
            Term::DecodedRisk { temperature } => write!(f, "decoded-risk({temperature})"),
            Term::Brier => f.write_str("brier"),
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
                 softmax-margin(COST), risk(GAMMA), risk(FROM..TO), decoded-risk(TEMPERATURE), brier, \
                 entropy or renyi(ORDER)"
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
            ("decoded-risk", temperature) => {
                Ok(Term::DecodedRisk { temperature: temperature.map_or(Ok(0.1), number)? })
            }
            ("brier", None) => Ok(Term::Brier),
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

impl fmt::Display for Ramp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, value) in self.values().enumerate() {
            let dots = if number > 0 { ".." } else { "" };
            write!(f, "{dots}{value}")?;
        }
        Ok(())
    }
}

impl FromStr for Ramp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |value: &str| {
            value.trim().parse::<f64>().map_err(|_| {
                Error::Setting(format!(
                    "{:?} is not a number; write a term as FACTOR*TERM, for example 0.1*entropy, or as \
                     FROM..TO*TERM",
                    value.trim()
                ))
            })
        };
        let (first, then) = text.split_once("..").map_or((text, None), |(a, b)| (a, Some(b)));
        let then = then.into_iter().flat_map(|then| then.split("..")).map(number);
        Ok(Ramp::new(number(first)?, &then.collect::<Result<Vec<_>, _>>()?))
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (factor, term)) in self.terms.iter().enumerate() {
            let plus = if number > 0 { " + " } else { "" };
            if *factor == Ramp::from(1.0) {
                write!(f, "{plus}{term}")?;
            } else {
                write!(f, "{plus}{factor}*{term}")?;
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
                return Ok((1.0.into(), term.parse()?));
            };
            Ok((factor.parse()?, term.parse()?))
        };
        text.split('+').map(term).collect::<Result<_, Error>>().map(|terms| Self { terms })
    }
}
