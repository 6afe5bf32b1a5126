//! Text form of optimizers, for command lines and model files: a name, then parameters that differ from the
//! defaults. Examples: `mira:k=5`, `lbfgs:c=10,objective=softmax-margin(1)`.

use std::fmt;
use std::str::FromStr;

use super::{Cost, Dual, Optimizer, Rate, Update};
use crate::Error;
use crate::learn::objective::likelihood;

impl Optimizer {
    /// Names of all optimizers, with which their text form starts.
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

    /// Returns the name of the optimizer.
    pub fn name(&self) -> &'static str {
        match self {
            Optimizer::Perceptron => "perceptron",
            Optimizer::PassiveAggressive { update: Update::Pa, .. } => "pa",
            Optimizer::PassiveAggressive { update: Update::PaI { .. }, .. } => "pa-i",
            Optimizer::PassiveAggressive { update: Update::PaII { .. }, .. } => "pa-ii",
            Optimizer::Mira { .. } => "mira",
            Optimizer::AdaGrad { .. } => "adagrad",
            Optimizer::Sgd { .. } => "sgd",
            Optimizer::Lbfgs { .. } => "lbfgs",
            Optimizer::Exponentiated { dual: Dual::MaxMargin, .. } => "eg-max-margin",
            Optimizer::Exponentiated { dual: Dual::LogLinear, .. } => "eg-log-linear",
        }
    }

    /// Returns the optimizer of this name, with the parameters of its paper where the paper states them.
    ///
    /// ```
    /// use tutte::Optimizer;
    /// assert_eq!(Optimizer::named("perceptron"), Some(Optimizer::Perceptron));
    /// assert!(Optimizer::NAMES.iter().all(|name| Optimizer::named(name).is_some()));
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let passive = |update| Optimizer::PassiveAggressive { update, cost: Cost::Sqrt };
        let exponentiated =
            |dual, c| Optimizer::Exponentiated { dual, c, beta: 9.0, rate: Rate::Own, gap: None };
        Some(match name {
            "perceptron" => Optimizer::Perceptron,
            "pa" => passive(Update::Pa),
            "pa-i" => passive(Update::PaI { c: 0.05 }),
            "pa-ii" => passive(Update::PaII { c: 0.05 }),
            "mira" => Optimizer::Mira { k: 1, c: f64::INFINITY },
            "adagrad" => Optimizer::default(),
            "sgd" => Optimizer::Sgd {
                objective: likelihood(),
                rate: 0.02,
                prior: None,
                dropout: 0.3,
                batch: 1,
            },
            "lbfgs" => Optimizer::Lbfgs { objective: likelihood(), c: 1.0, memory: 10 },
            "eg-max-margin" => exponentiated(Dual::MaxMargin, 0.01),
            "eg-log-linear" => exponentiated(Dual::LogLinear, 0.1),
            _ => return None,
        })
    }

    /// Sets a parameter. Returns `false` if there is no parameter of that name.
    fn set(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        match (self, key) {
            (Optimizer::PassiveAggressive { cost, .. }, "cost") => *cost = value.parse()?,
            (
                Optimizer::PassiveAggressive {
                    update: Update::PaI { c } | Update::PaII { c }, ..
                }
                | Optimizer::Mira { c, .. }
                | Optimizer::Lbfgs { c, .. }
                | Optimizer::Exponentiated { c, .. },
                "c",
            ) => *c = parse(key, value)?,
            (Optimizer::Mira { k, .. }, "k") => *k = parse(key, value)?,
            (
                Optimizer::AdaGrad { objective, .. }
                | Optimizer::Sgd { objective, .. }
                | Optimizer::Lbfgs { objective, .. },
                "objective",
            ) => *objective = value.parse()?,
            (Optimizer::AdaGrad { rate, .. }, "rate") => *rate = parse(key, value)?,
            (Optimizer::AdaGrad { damping, .. }, "damping") => *damping = parse(key, value)?,
            (Optimizer::AdaGrad { dropout, .. } | Optimizer::Sgd { dropout, .. }, "dropout") => {
                *dropout = parse(key, value)?;
            }
            (Optimizer::AdaGrad { batch, .. } | Optimizer::Sgd { batch, .. }, "batch") => {
                *batch = parse(key, value)?;
            }
            (Optimizer::Sgd { rate, .. }, "rate") => *rate = parse(key, value)?,
            (Optimizer::Sgd { prior, .. }, "prior") => *prior = optional(key, value)?,
            (Optimizer::Lbfgs { memory, .. }, "memory") => *memory = parse(key, value)?,
            (Optimizer::Exponentiated { beta, .. }, "beta") => *beta = parse(key, value)?,
            (Optimizer::Exponentiated { rate, .. }, "rate") => *rate = value.parse()?,
            (Optimizer::Exponentiated { gap, .. }, "gap") => *gap = optional(key, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the names and values of all parameters.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let none_or = |value: &Option<f64>| value.map_or("none".to_owned(), |x| x.to_string());
        match self {
            Optimizer::Perceptron => Vec::new(),
            Optimizer::PassiveAggressive { update, cost } => {
                let c = match update {
                    Update::Pa => None,
                    Update::PaI { c } | Update::PaII { c } => Some(("c", c.to_string())),
                };
                c.into_iter().chain([("cost", cost.to_string())]).collect()
            }
            Optimizer::Mira { k, c } => vec![("k", k.to_string()), ("c", c.to_string())],
            Optimizer::AdaGrad { objective, rate, damping, dropout, batch } => vec![
                ("objective", objective.to_string()),
                ("rate", rate.to_string()),
                ("damping", damping.to_string()),
                ("dropout", dropout.to_string()),
                ("batch", batch.to_string()),
            ],
            Optimizer::Sgd { objective, rate, prior, dropout, batch } => vec![
                ("objective", objective.to_string()),
                ("rate", rate.to_string()),
                ("prior", none_or(prior)),
                ("dropout", dropout.to_string()),
                ("batch", batch.to_string()),
            ],
            Optimizer::Lbfgs { objective, c, memory } => vec![
                ("objective", objective.to_string()),
                ("c", c.to_string()),
                ("memory", memory.to_string()),
            ],
            Optimizer::Exponentiated { c, beta, rate, gap, .. } => vec![
                ("c", c.to_string()),
                ("beta", beta.to_string()),
                ("rate", rate.to_string()),
                ("gap", none_or(gap)),
            ],
        }
    }
}

fn parse<T: FromStr>(key: &str, value: &str) -> Result<T, Error> {
    let wrong = |_| Error::Setting(format!("{key} cannot be {value:?}; write {}", expected(key)));
    value.parse().map_err(wrong)
}

/// Returns the form of a numeric parameter, for error messages.
fn expected(key: &str) -> &'static str {
    match key {
        "k" | "batch" | "memory" => "a whole number",
        "prior" | "gap" => "a number or none",
        _ => "a number",
    }
}

fn optional(key: &str, value: &str) -> Result<Option<f64>, Error> {
    if value == "none" { Ok(None) } else { parse(key, value).map(Some) }
}

impl fmt::Display for Optimizer {
    /// Writes the name and all parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        for (number, (key, value)) in self.parameters().iter().enumerate() {
            write!(f, "{}{key}={value}", if number == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl FromStr for Optimizer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let mut optimizer = Optimizer::named(name.trim()).ok_or_else(|| {
            let names = Optimizer::NAMES.join(", ");
            Error::Setting(format!("there is no optimizer {name:?}; choose one of {names}"))
        })?;
        for parameter in parameters.split(',').filter(|parameter| !parameter.trim().is_empty()) {
            let (key, value) = parameter.split_once('=').ok_or_else(|| {
                Error::Setting(format!("{parameter:?} is not a parameter; write NAME=VALUE"))
            })?;
            if !optimizer.set(key.trim(), value.trim())? {
                let names: Vec<_> =
                    optimizer.parameters().into_iter().map(|(key, _)| key).collect();
                let key = key.trim();
                return Err(Error::Setting(if names.is_empty() {
                    format!("{name} has no parameter {key:?}; it has none at all")
                } else {
                    format!(
                        "{name} has no parameter {key:?}; its parameters are {}",
                        names.join(", ")
                    )
                }));
            }
        }
        optimizer.check()?;
        Ok(optimizer)
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
            _ => Err(Error::Setting(format!("cost cannot be {text:?}; write sqrt or identity"))),
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
            _ => Err(Error::Setting(format!("rate cannot be {text:?}; write shared or own"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::objective::{
        Objective, Ramp, Term, annealed_risk, brier, decoded_risk, entropy, softmax_margin,
    };

    #[test]
    fn text_is_read_back_unchanged() {
        for name in Optimizer::NAMES {
            let optimizer = Optimizer::named(name).unwrap();
            assert_eq!(optimizer.name(), name);
            assert_eq!(optimizer.to_string().parse::<Optimizer>().unwrap(), optimizer);
        }
        let fading = Ramp::new(1.0, &[0.5, 0.0]) * Term::Likelihood;
        let rising = Ramp::new(0.0, &[1.0]) * Term::DecodedRisk { temperature: 0.1 };
        let sum = fading + brier() + rising;
        let text = "1..0.5..0*likelihood + brier + 0..1*decoded-risk(0.1)";
        assert_eq!(sum.to_string(), text);
        assert_eq!(text.parse::<Objective>().unwrap(), sum);
        assert_eq!("decoded-risk".parse::<Objective>().unwrap(), decoded_risk(0.1));
        let objective = 0.5 * likelihood() + annealed_risk(0.25, 4.0) + -0.1 * entropy();
        let optimizer =
            Optimizer::AdaGrad { objective, rate: 0.1, damping: 4.0, dropout: 0.0, batch: 2 };
        let text = "adagrad:objective=0.5*likelihood + risk(0.25..4) + -0.1*entropy,rate=0.1,\
                    damping=4,dropout=0,batch=2";
        assert_eq!(optimizer.to_string(), text);
        assert_eq!(text.parse::<Optimizer>().unwrap(), optimizer);
    }

    #[test]
    fn missing_parameters_have_their_defaults() {
        let optimizer: Optimizer = "mira:k=5".parse().unwrap();
        assert_eq!(optimizer, Optimizer::Mira { k: 5, c: f64::INFINITY });
        let optimizer: Optimizer = "lbfgs: objective = softmax-margin, c = 10".parse().unwrap();
        assert_eq!(
            optimizer,
            Optimizer::Lbfgs { objective: softmax_margin(1.0), c: 10.0, memory: 10 }
        );
        let optimizer: Optimizer = "pa-ii:c=2,cost=identity".parse().unwrap();
        let update = Update::PaII { c: 2.0 };
        assert_eq!(optimizer, Optimizer::PassiveAggressive { update, cost: Cost::Identity });
    }

    #[test]
    fn errors_name_the_mistake() {
        for (text, said) in [
            ("svm", "no optimizer \"svm\"; choose one of perceptron, pa,"),
            ("mira:k", "write NAME=VALUE"),
            ("mira:k=many", "k cannot be \"many\"; write a whole number"),
            ("mira:rate=1", "mira has no parameter \"rate\"; its parameters are k, c"),
            ("perceptron:c=1", "it has none at all"),
            ("pa:c=1", "pa has no parameter \"c\"; its parameters are cost"),
            ("pa-i:c=-1", "C is -1"),
            ("pa-i:cost=cube", "cost cannot be \"cube\"; write sqrt or identity"),
            ("adagrad:objective=risk(", "is not a term"),
            ("adagrad:objective=x*risk", "\"x\" is not a number"),
            ("adagrad:objective=", "is not a term"),
            ("adagrad:objective=1..x*risk", "\"x\" is not a number"),
            ("adagrad:objective=decoded-risk(0)", "decoded-risk is 0; choose"),
            ("lbfgs:objective=risk(1..2)", "cannot change during L-BFGS"),
            ("lbfgs:objective=1..0*likelihood + 0..1*risk", "one factor instead of FROM..TO"),
            ("eg-max-margin:rate=fast", "rate cannot be \"fast\"; write shared or own"),
        ] {
            let error = text.parse::<Optimizer>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
