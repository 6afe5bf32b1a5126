//! Learners as text, as a command line has them and a model tells how it was made: a name, and
//! parameters that differ from the usual ones, `mira:k=5`, `lbfgs:c=10,objective=softmax-margin(1)`.

use std::fmt;
use std::str::FromStr;

use super::{Cost, Dual, Learner, Rate, Update};
use crate::Error;
use crate::learn::objective::likelihood;

impl Learner {
    /// The names that a learner's text may start with.
    pub const NAMES: [&str; 10] = [
        "perceptron",
        "pa",
        "pa-i",
        "pa-ii",
        "mira",
        "adagrad",
        "sgd",
        "lbfgs",
        "eg-max-margin",
        "eg-log-linear",
    ];

    /// The name of the learner.
    pub fn name(&self) -> &'static str {
        match self {
            Learner::Perceptron => "perceptron",
            Learner::PassiveAggressive { update: Update::Pa, .. } => "pa",
            Learner::PassiveAggressive { update: Update::PaI { .. }, .. } => "pa-i",
            Learner::PassiveAggressive { update: Update::PaII { .. }, .. } => "pa-ii",
            Learner::Mira { .. } => "mira",
            Learner::AdaGrad { .. } => "adagrad",
            Learner::Sgd { .. } => "sgd",
            Learner::Lbfgs { .. } => "lbfgs",
            Learner::Exponentiated { dual: Dual::MaxMargin, .. } => "eg-max-margin",
            Learner::Exponentiated { dual: Dual::LogLinear, .. } => "eg-log-linear",
        }
    }

    /// A learner by its name, with the parameters of its paper where that tells them.
    ///
    /// ```
    /// use tutte::Learner;
    /// assert_eq!(Learner::named("perceptron"), Some(Learner::Perceptron));
    /// assert!(Learner::NAMES.iter().all(|name| Learner::named(name).is_some()));
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let passive = |update| Learner::PassiveAggressive { update, cost: Cost::Sqrt };
        let exponentiated =
            |dual, c| Learner::Exponentiated { dual, c, beta: 9.0, rate: Rate::Own, gap: None };
        Some(match name {
            "perceptron" => Learner::Perceptron,
            "pa" => passive(Update::Pa),
            "pa-i" => passive(Update::PaI { c: 0.05 }),
            "pa-ii" => passive(Update::PaII { c: 0.05 }),
            "mira" => Learner::Mira { k: 1, c: f64::INFINITY },
            "adagrad" => Learner::default(),
            "sgd" => Learner::Sgd {
                objective: likelihood(),
                rate: 0.02,
                prior: None,
                dropout: 0.3,
                batch: 1,
            },
            "lbfgs" => Learner::Lbfgs { objective: likelihood(), c: 1.0, memory: 10 },
            "eg-max-margin" => exponentiated(Dual::MaxMargin, 0.01),
            "eg-log-linear" => exponentiated(Dual::LogLinear, 0.1),
            _ => return None,
        })
    }

    /// Sets a parameter; `false` if there is none of that name.
    fn set(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        match (self, key) {
            (Learner::PassiveAggressive { cost, .. }, "cost") => *cost = parse(key, value)?,
            (
                Learner::PassiveAggressive {
                    update: Update::PaI { c } | Update::PaII { c }, ..
                }
                | Learner::Mira { c, .. }
                | Learner::Lbfgs { c, .. }
                | Learner::Exponentiated { c, .. },
                "c",
            ) => *c = parse(key, value)?,
            (Learner::Mira { k, .. }, "k") => *k = parse(key, value)?,
            (
                Learner::AdaGrad { objective, .. }
                | Learner::Sgd { objective, .. }
                | Learner::Lbfgs { objective, .. },
                "objective",
            ) => *objective = value.parse()?,
            (Learner::AdaGrad { rate, .. }, "rate") => *rate = parse(key, value)?,
            (Learner::AdaGrad { damping, .. }, "damping") => *damping = parse(key, value)?,
            (Learner::AdaGrad { dropout, .. } | Learner::Sgd { dropout, .. }, "dropout") => {
                *dropout = parse(key, value)?;
            }
            (Learner::AdaGrad { batch, .. } | Learner::Sgd { batch, .. }, "batch") => {
                *batch = parse(key, value)?;
            }
            (Learner::Sgd { rate, .. }, "rate") => *rate = parse(key, value)?,
            (Learner::Sgd { prior, .. }, "prior") => *prior = optional(key, value)?,
            (Learner::Lbfgs { memory, .. }, "memory") => *memory = parse(key, value)?,
            (Learner::Exponentiated { beta, .. }, "beta") => *beta = parse(key, value)?,
            (Learner::Exponentiated { rate, .. }, "rate") => *rate = parse(key, value)?,
            (Learner::Exponentiated { gap, .. }, "gap") => *gap = optional(key, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// All parameters by name.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let none_or = |value: &Option<f64>| value.map_or("none".to_owned(), |x| x.to_string());
        match self {
            Learner::Perceptron => Vec::new(),
            Learner::PassiveAggressive { update, cost } => {
                let c = match update {
                    Update::Pa => None,
                    Update::PaI { c } | Update::PaII { c } => Some(("c", c.to_string())),
                };
                c.into_iter().chain([("cost", cost.to_string())]).collect()
            }
            Learner::Mira { k, c } => vec![("k", k.to_string()), ("c", c.to_string())],
            Learner::AdaGrad { objective, rate, damping, dropout, batch } => vec![
                ("objective", objective.to_string()),
                ("rate", rate.to_string()),
                ("damping", damping.to_string()),
                ("dropout", dropout.to_string()),
                ("batch", batch.to_string()),
            ],
            Learner::Sgd { objective, rate, prior, dropout, batch } => vec![
                ("objective", objective.to_string()),
                ("rate", rate.to_string()),
                ("prior", none_or(prior)),
                ("dropout", dropout.to_string()),
                ("batch", batch.to_string()),
            ],
            Learner::Lbfgs { objective, c, memory } => vec![
                ("objective", objective.to_string()),
                ("c", c.to_string()),
                ("memory", memory.to_string()),
            ],
            Learner::Exponentiated { c, beta, rate, gap, .. } => vec![
                ("c", c.to_string()),
                ("beta", beta.to_string()),
                ("rate", rate.to_string()),
                ("gap", none_or(gap)),
            ],
        }
    }
}

fn parse<T: FromStr>(key: &str, value: &str) -> Result<T, Error> {
    value.parse().map_err(|_| Error::Setting(format!("{key} cannot be {value:?}")))
}

fn optional(key: &str, value: &str) -> Result<Option<f64>, Error> {
    if value == "none" { Ok(None) } else { parse(key, value).map(Some) }
}

impl fmt::Display for Learner {
    /// With all parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (number, (key, value)) in self.parameters().iter().enumerate() {
            write!(f, "{}{key}={value}", if number == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl FromStr for Learner {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let mut learner = Learner::named(name.trim()).ok_or_else(|| {
            let names = Learner::NAMES.join(", ");
            Error::Setting(format!("there is no learner {name:?}, but {names}"))
        })?;
        for parameter in parameters.split(',').filter(|parameter| !parameter.trim().is_empty()) {
            let (key, value) = parameter.split_once('=').ok_or_else(|| {
                Error::Setting(format!("{parameter:?} is no parameter; write name=value"))
            })?;
            if !learner.set(key.trim(), value.trim())? {
                let known: Vec<_> = learner.parameters().into_iter().map(|(key, _)| key).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let why = format!("{name} has no parameter {key:?}, but {known}");
                return Err(Error::Setting(why));
            }
        }
        learner.check()?;
        Ok(learner)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cost::Sqrt => "sqrt",
            Cost::Identity => "identity",
        })
    }
}

impl FromStr for Cost {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "sqrt" => Ok(Cost::Sqrt),
            "identity" => Ok(Cost::Identity),
            _ => Err(Error::Setting(format!("{text:?} is neither sqrt nor identity"))),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rate::Shared => "shared",
            Rate::Own => "own",
        })
    }
}

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "shared" => Ok(Rate::Shared),
            "own" => Ok(Rate::Own),
            _ => Err(Error::Setting(format!("{text:?} is neither shared nor own"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::objective::{annealed_risk, entropy, softmax_margin};

    #[test]
    fn text_says_all_there_is_to_say() {
        for name in Learner::NAMES {
            let learner = Learner::named(name).unwrap();
            assert_eq!(learner.name(), name);
            assert_eq!(learner.to_string().parse::<Learner>().unwrap(), learner);
        }
        let objective = 0.5 * likelihood() + annealed_risk(0.25, 4.0) + -0.1 * entropy();
        let learner =
            Learner::AdaGrad { objective, rate: 0.1, damping: 4.0, dropout: 0.0, batch: 2 };
        let text = "adagrad:objective=0.5*likelihood + risk(0.25..4) + -0.1*entropy,rate=0.1,\
                    damping=4,dropout=0,batch=2";
        assert_eq!(learner.to_string(), text);
        assert_eq!(text.parse::<Learner>().unwrap(), learner);
    }

    #[test]
    fn parameters_not_told_are_the_usual_ones() {
        let learner: Learner = "mira:k=5".parse().unwrap();
        assert_eq!(learner, Learner::Mira { k: 5, c: f64::INFINITY });
        let learner: Learner = "lbfgs: objective = softmax-margin, c = 10".parse().unwrap();
        assert_eq!(learner, Learner::Lbfgs { objective: softmax_margin(1.0), c: 10.0, memory: 10 });
        let learner: Learner = "pa-ii:c=2,cost=identity".parse().unwrap();
        let update = Update::PaII { c: 2.0 };
        assert_eq!(learner, Learner::PassiveAggressive { update, cost: Cost::Identity });
    }

    #[test]
    fn mistakes_are_told() {
        for (text, said) in [
            ("svm", "no learner \"svm\", but perceptron, pa,"),
            ("mira:k", "write name=value"),
            ("mira:k=many", "k cannot be \"many\""),
            ("mira:rate=1", "mira has no parameter \"rate\", but k, c"),
            ("perceptron:c=1", "but none"),
            ("pa:c=1", "pa has no parameter \"c\", but cost"),
            ("pa-i:c=-1", "C is -1"),
            ("pa-i:cost=cube", "cost cannot be \"cube\""),
            ("adagrad:objective=risk(", "is no signal"),
            ("adagrad:objective=x*risk", "\"x\" is no number"),
            ("adagrad:objective=", "is no signal"),
            ("lbfgs:objective=risk(1..2)", "gamma cannot change"),
            ("eg-max-margin:rate=fast", "rate cannot be \"fast\""),
        ] {
            let error = text.parse::<Learner>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
