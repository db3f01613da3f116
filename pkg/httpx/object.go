package httpx

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
	"github.com/signalcast/signalcast/pkg/protocol"
)

// Object is a decoded JSON object. Its accessors take exact member names. They record the first error in the order of their
// calls, and Err returns it. A handler can therefore read all members and check Err once. A null member counts as absent. Nested
// objects of one body share the recorded error.
type Object struct {
	src   []byte
	spans []span
	path  string // prefix of member names, such as "payload." inside the member payload
	first **apperr.Fault
}

// DecodeBytes parses a whole body. It returns ErrBody with the reason if the body is invalid.
func DecodeBytes(b []byte) (Object, error) {
	spans, err := scanObject(b)
	if err != nil {
		return Object{}, err
	}
	return Object{src: b, spans: spans, first: new(*apperr.Fault)}, nil
}

// Err returns the first recorded error, or nil. Its code is missing_<member> or invalid_<member>, and its extra member "field"
// contains the full member name.
func (o Object) Err() error {
	if o.first == nil || *o.first == nil {
		return nil
	}
	return *o.first
}

// Missing records that a required member is absent. Handlers call it for their own checks.
func (o Object) Missing(name string) { o.record("missing_", name, name+" is required") }

// Invalid records that a member is invalid. why follows the member name in the message.
func (o Object) Invalid(name, why string) { o.record("invalid_", name, name+" "+why) }

func (o Object) record(prefix, name, text string) {
	if o.first == nil || *o.first != nil {
		return
	}
	*o.first = apperr.New(apperr.Invalid, prefix+protocol.Snake(name), text).With("field", o.path+name)
}

// Has reports whether a member is present and not null.
func (o Object) Has(name string) bool { return o.raw(name) != nil }

// Names returns the names of all members in the order of the body, including members with the value null.
func (o Object) Names() []string {
	out := make([]string, len(o.spans))
	for i, sp := range o.spans {
		out[i] = sp.name
	}
	return out
}

// Raw returns the JSON text of a member, or nil if it is absent or null. The caller must not change it.
func (o Object) Raw(name string) []byte { return o.raw(name) }

func (o Object) raw(name string) []byte {
	for _, sp := range o.spans {
		if sp.name == name {
			if v := o.src[sp.start:sp.end:sp.end]; v[0] != 'n' {
				return v
			}
			return nil
		}
	}
	return nil
}

// need returns the JSON text of a required member. If the member is absent, need records that and returns nil.
func (o Object) need(name string) []byte {
	v := o.raw(name)
	if v == nil {
		o.Missing(name)
	}
	return v
}

// String returns the member called name, a string of at most limit characters. It returns "" if the member is absent or
// invalid. If required is set, an absent or empty string is recorded as missing.
func (o Object) String(name string, limit int, required bool) string {
	v := o.raw(name)
	if v == nil {
		if required {
			o.Missing(name)
		}
		return ""
	}
	s := o.str(name, v, limit)
	if s == nil {
		return ""
	}
	if *s == "" && required {
		o.Missing(name)
	}
	return *s
}

// OptString returns the optional member called name, a string of at most limit characters, or nil if the member is absent or
// invalid.
func (o Object) OptString(name string, limit int) *string {
	if v := o.raw(name); v != nil {
		return o.str(name, v, limit)
	}
	return nil
}

func (o Object) str(name string, v []byte, limit int) *string {
	if v[0] != '"' {
		o.Invalid(name, "must be a string")
		return nil
	}
	s := decodeText(v)
	if len(s) > limit && utf8.RuneCountInString(s) > limit {
		o.Invalid(name, "must have at most "+strconv.Itoa(limit)+" characters")
		return nil
	}
	return &s
}

// OptText returns the optional member called name, a text of at most limit characters that satisfies protocol.IsText. It
// returns nil if the member is absent or not a string. If lines is set, line feeds are allowed and each CR LF becomes a line
// feed.
func (o Object) OptText(name string, limit int, lines bool) *string {
	s := o.OptString(name, BodyLimit)
	if s == nil {
		return nil
	}
	if lines {
		*s = protocol.PlainLines(*s)
	}
	switch {
	case utf8.RuneCountInString(*s) > limit:
		o.Invalid(name, "must have at most "+strconv.Itoa(limit)+" characters")
	case !protocol.IsText(*s, lines):
		except := ""
		if lines {
			except = " except line feeds"
		}
		o.Invalid(name, "must have no control characters"+except+
			", marks of the writing direction, private use characters or noncharacters")
	}
	return s
}

// Text is like OptText, but returns "" for an absent member. If required is set, an absent or empty text is recorded as
// missing.
func (o Object) Text(name string, limit int, lines, required bool) string {
	s := o.OptText(name, limit, lines)
	if s == nil || *s == "" {
		if required {
			o.Missing(name)
		}
		return ""
	}
	return *s
}

// Name returns the member called name: a name or label of at most limit characters that satisfies protocol.IsName. If required is
// set, an absent or empty name is recorded as missing.
func (o Object) Name(name string, limit int, required bool) string {
	s := o.String(name, limit, required)
	if s != "" && !protocol.IsName(s, 1, limit) {
		o.Invalid(name, "must be at most "+strconv.Itoa(limit)+" visible characters on one line, without format characters")
	}
	return s
}

// Line returns the member called name: a text of at most limit characters on one line that satisfies protocol.IsLine. If required
// is set, an absent or empty text is recorded as missing.
func (o Object) Line(name string, limit int, required bool) string {
	s := o.String(name, limit, required)
	o.checkLine(name, s, limit)
	return s
}

// OptLine returns the optional member called name: a text of at most limit characters on one line that satisfies protocol.IsLine
// or is empty. It returns nil if the member is absent, not a string, or too long.
func (o Object) OptLine(name string, limit int) *string {
	s := o.OptString(name, limit)
	if s != nil {
		o.checkLine(name, *s, limit)
	}
	return s
}

func (o Object) checkLine(name, s string, limit int) {
	if s != "" && !protocol.IsLine(s, 1, limit) {
		o.Invalid(name, "must be at most "+strconv.Itoa(limit)+" characters on one line, at least one of them visible, "+
			"without control, direction or private use characters")
	}
}

// Int returns the required member called name, an integer from low to high. It records a missing or invalid member.
func (o Object) Int(name string, low, high int64) int64 {
	return required(o, name, o.OptInt(name, low, high))
}

// OptInt returns the optional member called name, an integer from low to high, or nil if the member is absent. It records an
// invalid member and returns 0 for it.
func (o Object) OptInt(name string, low, high int64) *int64 {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	n, ok := parseInteger(string(v))
	if !ok || n < low || n > high {
		o.Invalid(name, "must be an integer from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
		n = 0
	}
	return &n
}

// Number returns the required member called name, a number from low to high. It records a missing or invalid member.
func (o Object) Number(name string, low, high float64) float64 {
	return required(o, name, o.OptNumber(name, low, high))
}

// OptNumber returns the optional member called name, a number from low to high, or nil if the member is absent. It records an
// invalid member and returns 0 for it.
func (o Object) OptNumber(name string, low, high float64) *float64 {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || math.IsNaN(n) || n < low || n > high {
		o.Invalid(name, "must be a number from "+strconv.FormatFloat(low, 'f', -1, 64)+" to "+strconv.FormatFloat(high, 'f', -1, 64))
		n = 0
	}
	n += 0 // converts minus zero to zero
	return &n
}

// Bool returns the required member called name, a boolean. It records a missing or invalid member.
func (o Object) Bool(name string) bool { return required(o, name, o.OptBool(name)) }

// OptBool returns the optional member called name, a boolean, or nil if the member is absent. It records an invalid member
// and returns false for it.
func (o Object) OptBool(name string) *bool {
	v := o.raw(name)
	if v == nil {
		return nil
	}
	if v[0] != 't' && v[0] != 'f' {
		o.Invalid(name, "must be true or false")
	}
	b := v[0] == 't'
	return &b
}

// required returns *v. If v is nil, it records that the member called name is missing, and returns the zero value.
func required[T any](o Object, name string, v *T) (value T) {
	if v == nil {
		o.Missing(name)
		return value
	}
	return *v
}

// Enum returns the required member called name, a string that must be one of allowed. It records a missing or invalid member
// and returns "" for it. The comparison is case-sensitive.
func (o Object) Enum(name string, allowed ...string) string {
	if !o.Has(name) {
		o.Missing(name)
	}
	return o.OptEnum(name, allowed...)
}

// OptEnum returns the optional member called name, a string that must be one of allowed. It returns "" if the member is
// absent or invalid.
func (o Object) OptEnum(name string, allowed ...string) string {
	v := o.raw(name)
	if v == nil {
		return ""
	}
	if v[0] == '"' {
		if s := decodeText(v); slices.Contains(allowed, s) {
			return s
		}
	}
	o.Invalid(name, "must be "+orList(allowed))
	return ""
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
