package config

import "log/slog"

// Env is the kind of place a process runs in; the zero value is production.
type Env string

// The environments.
const (
	Development Env = "development"
	Test        Env = "test"
	Production  Env = "production"
)

// Production reports the environment with every check; unset means production, so that a
// forgotten setting never weakens an installation.
func (e Env) Production() bool { return e == Production || e == "" }

// SecureCookies reports whether cookies need https.
func (e Env) SecureCookies() bool { return e != Development && e != Test }

func (e *Env) set(r *Report, raw string) {
	switch v := Env(raw); v {
	case "":
		*e = Production
	case Development, Test, Production:
		*e = v
	default:
		// Unknown is judged as strictly as possible.
		*e = Production
		r.Fail("ENV", "must be one of development, test, production")
	}
}

// UnmarshalText takes any text: LoadFrom has already judged ENV.
func (e *Env) UnmarshalText(b []byte) error {
	*e = Env(b)
	return nil
}

const hidden = "[secret]"

// Secret is a setting that is never printed: not by fmt, not by slog, not as
// JSON. Reveal is the only way to its text.
type Secret struct {
	// A pointer, so that a struct printed through an unexported field shows
	// an address.
	text *string
}

// NewSecret makes a secret, for tests and for values that are derived.
func NewSecret(s string) Secret { return Secret{&s} }

// Reveal is the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports text that is not empty.
func (s Secret) IsSet() bool { return s.Reveal() != "" }

// String implements fmt.Stringer and hides the text.
func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return hidden
}

// GoString implements fmt.GoStringer and hides the text.
func (s Secret) GoString() string { return hidden }

// MarshalText implements encoding.TextMarshaler and hides the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer and hides the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(b []byte) error {
	*s = NewSecret(string(b))
	return nil
}
