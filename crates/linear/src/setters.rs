//! Setters of options: structs that are built field by field, so that a new field breaks no caller.

/// Defines the setters of an options struct whose fields are public.
///
/// ```
/// #[derive(Default)]
/// pub struct Options {
///     /// Number of passes.
///     pub passes: usize,
/// }
/// tutte_linear::setters! { Options { with_passes => passes: usize } }
///
/// assert_eq!(Options::default().with_passes(3).passes, 3);
/// ```
#[macro_export]
macro_rules! setters {
    ($options:ident { $($setter:ident => $field:ident: $type:ty),* $(,)? }) => {
        impl $options {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $setter(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}
