package web

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/fault"
)

// maxDepth bounds nesting; the reader recurses once per level.
const maxDepth = 32

// ErrBody refuses a body that is not one well-formed JSON object.
var ErrBody = fault.New(fault.Invalid, "invalid_body", "body must be one JSON object")

// The reasons for which a body is refused.
var (
	errSyntax    = ErrBody.Say("body is not valid JSON")
	errTrailing  = ErrBody.Say("body has data after its object")
	errDuplicate = ErrBody.Say("body has a duplicate member")
	errUTF8      = ErrBody.Say("body is not valid UTF-8")
	errNUL       = ErrBody.Say("body has a NUL character")
	errSurrogate = ErrBody.Say("body has half a surrogate pair")
	errDepth     = ErrBody.Say("body is nested too deeply")
)

// scanner validates JSON in one pass. It keeps no tree: what a caller never
// asks for costs no memory, so a small body cannot grow into a large one.
type scanner struct {
	b     []byte
	i     int
	depth int
}

// span is one member of an object: its decoded name and where its value is.
type span struct {
	name       string
	start, end int
}

// scanObject validates a whole document and lists the members of its object.
func scanObject(b []byte) ([]span, error) {
	s := scanner{b: b}
	s.space()
	if s.i >= len(b) || b[s.i] != '{' {
		if !utf8.Valid(b) {
			return nil, errUTF8
		}
		return nil, ErrBody
	}
	spans, err := s.object()
	if err != nil {
		return nil, err
	}
	s.space()
	if s.i != len(b) {
		return nil, errTrailing
	}
	return spans, nil
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// take steps over one expected byte after white space.
func (s *scanner) take(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) enter() error {
	s.i++
	if s.depth++; s.depth > maxDepth {
		return errDepth
	}
	return nil
}

func (s *scanner) value() error {
	s.space()
	if s.i >= len(s.b) {
		return errSyntax
	}
	switch c := s.b[s.i]; {
	case c == '{':
		_, err := s.object()
		return err
	case c == '[':
		_, err := s.array()
		return err
	case c == '"':
		_, err := s.text(false)
		return err
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	case c >= utf8.RuneSelf && !utf8.Valid(s.b[s.i:]):
		return errUTF8
	}
	return errSyntax
}

func (s *scanner) word(w string) error {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return errSyntax
	}
	s.i += len(w)
	return nil
}

func (s *scanner) object() ([]span, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer func() { s.depth-- }()
	var spans []span
	var seen names
	if s.take('}') {
		return nil, nil
	}
	for {
		s.space()
		name, err := s.text(true)
		if err != nil {
			return nil, err
		}
		if !seen.add(name) {
			return nil, errDuplicate
		}
		if !s.take(':') {
			return nil, errSyntax
		}
		s.space()
		start := s.i
		if err := s.value(); err != nil {
			return nil, err
		}
		if s.depth == 1 {
			spans = append(spans, span{name, start, s.i})
		}
		if s.take('}') {
			return spans, nil
		}
		if !s.take(',') {
			return nil, errSyntax
		}
	}
}

// array validates a list; the spans of its items are kept at the top only.
func (s *scanner) array() ([]span, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer func() { s.depth-- }()
	var spans []span
	if s.take(']') {
		return nil, nil
	}
	for {
		s.space()
		start := s.i
		if err := s.value(); err != nil {
			return nil, err
		}
		if s.depth == 1 {
			spans = append(spans, span{"", start, s.i})
		}
		if s.take(']') {
			return spans, nil
		}
		if !s.take(',') {
			return nil, errSyntax
		}
	}
}

// number follows the grammar of RFC 8259; the value is judged by who asks.
func (s *scanner) number() error {
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if !s.digits() {
		return errSyntax
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if !s.digits() {
			return errSyntax
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if !s.digits() {
			return errSyntax
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > from
}

// text validates a string; with keep it also decodes it.
func (s *scanner) text(keep bool) (string, error) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return "", errSyntax
	}
	s.i++
	from := s.i
	var out []byte // nil while the string is its own decoding
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw := s.b[from:s.i]
			s.i++
			if !keep {
				return "", nil
			}
			if out != nil {
				return string(out), nil
			}
			return string(raw), nil
		case c == '\\':
			if keep && out == nil {
				out = append(make([]byte, 0, s.i-from+16), s.b[from:s.i]...)
			}
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			if keep {
				out = utf8.AppendRune(out, r)
			}
		case c == 0:
			return "", errNUL
		case c < ' ':
			return "", errSyntax
		default:
			n := 1
			if c >= utf8.RuneSelf {
				var r rune
				if r, n = utf8.DecodeRune(s.b[s.i:]); r == utf8.RuneError && n == 1 {
					return "", errUTF8
				}
			}
			if out != nil {
				out = append(out, s.b[s.i:s.i+n]...)
			}
			s.i += n
		}
	}
	return "", errSyntax
}

// escape reads one escape, which may be a surrogate pair.
func (s *scanner) escape() (rune, error) {
	if s.i+1 >= len(s.b) {
		return 0, errSyntax
	}
	c := s.b[s.i+1]
	s.i += 2
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return s.unicode()
	}
	return 0, errSyntax
}

func (s *scanner) unicode() (rune, error) {
	r, ok := s.hex4()
	switch {
	case !ok:
		return 0, errSyntax
	case r == 0:
		return 0, errNUL
	case !utf16.IsSurrogate(r):
		return r, nil
	}
	if s.i+1 >= len(s.b) || s.b[s.i] != '\\' || s.b[s.i+1] != 'u' {
		return 0, errSurrogate
	}
	s.i += 2
	low, ok := s.hex4()
	if !ok {
		return 0, errSyntax
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, errSurrogate
	}
	return r, nil
}

func (s *scanner) hex4() (rune, bool) {
	if len(s.b)-s.i < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s.b[s.i : s.i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	s.i += 4
	return r, true
}

// names finds duplicates: a short list first, a map when it grows.
type names struct {
	list []string
	more map[string]struct{}
}

func (n *names) add(name string) bool {
	if n.more != nil {
		if _, ok := n.more[name]; ok {
			return false
		}
		n.more[name] = struct{}{}
		return true
	}
	for _, s := range n.list {
		if s == name {
			return false
		}
	}
	if n.list = append(n.list, name); len(n.list) == 16 {
		n.more = make(map[string]struct{}, 64)
		for _, s := range n.list {
			n.more[s] = struct{}{}
		}
	}
	return true
}
