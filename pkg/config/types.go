package config

import "log/slog"

// Env is the environment in which a process runs. The zero value means production.
type Env string

// Values of the setting ENV.
const (
	Development Env = "development"
	Test        Env = "test"
	Production  Env = "production"
)

// Production reports whether all production checks apply. An unset environment counts as production, so that a
// missing setting does not weaken an installation.
func (e Env) Production() bool { return e == Production || e == "" }

// SecureCookies reports whether cookies must have the Secure attribute, which restricts them to https. It is false only in
// development and test.
func (e Env) SecureCookies() bool { return e != Development && e != Test }

func (e *Env) set(r *Report, raw string) {
	switch v := Env(raw); v {
	case "":
		*e = Production
	case Development, Test, Production:
		*e = v
	default:
		// An unknown environment is treated as production, which has the strictest checks.
		*e = Production
		r.Fail("ENV", "must be one of development, test, production")
	}
}

// UnmarshalText implements encoding.TextUnmarshaler. It accepts any text, because LoadFrom has already checked ENV.
func (e *Env) UnmarshalText(b []byte) error {
	*e = Env(b)
	return nil
}

const hidden = "[secret]"

// Secret is a setting whose text is never printed by fmt, slog or encoding/json. Only Reveal returns the text.
type Secret struct {
	// text is a pointer so that fmt prints an address when it reads the field by reflection.
	text *string
}

// NewSecret returns a Secret with the text s, for tests and derived values.
func NewSecret(s string) Secret { return Secret{&s} }

// Reveal returns the text, or "" if the secret is not set.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsSet reports whether the secret has a text that is not empty.
func (s Secret) IsSet() bool { return s.Reveal() != "" }

// String implements fmt.Stringer. It returns a placeholder instead of the text, or "" if the secret is not set.
func (s Secret) String() string {
	if !s.IsSet() {
		return ""
	}
	return hidden
}

// GoString implements fmt.GoStringer. It returns a placeholder instead of the text.
func (s Secret) GoString() string { return hidden }

// MarshalText implements encoding.TextMarshaler. It returns a placeholder instead of the text, or "" if the secret is not
// set.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue implements slog.LogValuer. It returns a placeholder instead of the text, or "" if the secret is not set.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// UnmarshalText implements encoding.TextUnmarshaler. It sets the text of the secret to b.
func (s *Secret) UnmarshalText(b []byte) error {
	*s = NewSecret(string(b))
	return nil
}
