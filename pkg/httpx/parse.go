package httpx

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// maxDepth is the maximum nesting depth of a body. The parser recurses once per level.
const maxDepth = 32

// ErrBody is the error of a body that is not one well-formed JSON object.
var ErrBody = apperr.New(apperr.Invalid, "invalid_body", "body must be one JSON object")

// Copies of ErrBody, each with the reason why a body is invalid.
var (
	errSyntax    = ErrBody.WithText("body must be valid JSON")
	errTrailing  = ErrBody.WithText("body has data after its JSON object; send one object")
	errDuplicate = ErrBody.WithText("body has a duplicate member; each name may occur once in an object")
	errUTF8      = ErrBody.WithText("body must be valid UTF-8")
	errNUL       = ErrBody.WithText("body must not contain a NUL character")
	errSurrogate = ErrBody.WithText("body has an unpaired surrogate escape (\\uD800 to \\uDFFF)")
	errDepth     = ErrBody.WithText("body must be nested at most %d levels deep", maxDepth)
)

// scanner validates JSON in one pass and does not build a document tree. It stores the spans of the outermost members or
// items and, to find duplicates, the member names of open objects. Its memory is therefore proportional to the body.
type scanner struct {
	b     []byte
	i     int
	depth int
}

// span is the decoded name of a member and the position of its value. The name of a list item is empty.
type span struct {
	name       string
	start, end int
}

// scanObject validates a whole document and returns the members of its object.
func scanObject(b []byte) ([]span, error) {
	s := scanner{b: b}
	s.space()
	if s.i >= len(b) || b[s.i] != '{' {
		if !utf8.Valid(b) {
			return nil, errUTF8
		}
		return nil, ErrBody
	}
	spans, err := s.parts()
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

// skip skips white space and then the byte c. If the next byte is not c, it returns false.
func (s *scanner) skip(c byte) bool {
	s.space()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// value validates the JSON value at position i and moves to its end.
func (s *scanner) value() error {
	s.space()
	if s.i >= len(s.b) {
		return errSyntax
	}
	switch c := s.b[s.i]; {
	case c == '{', c == '[':
		_, err := s.parts()
		return err
	case c == '"':
		_, err := s.text()
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
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return errSyntax
	}
	s.i += len(w)
	return nil
}

// parts validates the object or list at position i. If this is the outermost one, parts returns the spans of its members or
// items.
func (s *scanner) parts() ([]span, error) {
	named, end := s.b[s.i] == '{', s.b[s.i]+2 // in ASCII, } is two after { and ] is two after [
	s.i++
	if s.depth++; s.depth > maxDepth {
		return nil, errDepth
	}
	defer func() { s.depth-- }()
	if s.skip(end) {
		return nil, nil
	}
	var spans []span
	seen := map[string]bool{}
	for {
		s.space()
		var name string
		if named {
			quoted, err := s.text()
			if err != nil {
				return nil, err
			}
			if name = decodeText(quoted); seen[name] {
				return nil, errDuplicate
			}
			seen[name] = true
			if !s.skip(':') {
				return nil, errSyntax
			}
			s.space()
		}
		start := s.i
		if err := s.value(); err != nil {
			return nil, err
		}
		if s.depth == 1 {
			spans = append(spans, span{name, start, s.i})
		}
		if s.skip(end) {
			return spans, nil
		}
		if !s.skip(',') {
			return nil, errSyntax
		}
	}
}

// number validates a number by the grammar of RFC 8259. The accessors of Object check its range.
func (s *scanner) number() error {
	start := s.i
	for s.i < len(s.b) && strings.IndexByte("+-.0123456789Ee", s.b[s.i]) >= 0 {
		s.i++
	}
	if !json.Valid(s.b[start:s.i]) {
		return errSyntax
	}
	return nil
}

// text validates a string and returns it with its quotes.
func (s *scanner) text() ([]byte, error) {
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, errSyntax
	}
	start := s.i
	for s.i++; s.i < len(s.b); {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return s.b[start:s.i], nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return nil, err
			}
		case c == 0:
			return nil, errNUL
		case c < ' ':
			return nil, errSyntax
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(s.b[s.i:])
			if r == utf8.RuneError && n == 1 {
				return nil, errUTF8
			}
			s.i += n
		default:
			s.i++
		}
	}
	return nil, errSyntax
}

// decodeText returns the value of a quoted JSON string that the method scanner.text has validated.
func decodeText(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var out string
	if json.Unmarshal(quoted, &out) != nil { // not reached: text has accepted the string
		return ""
	}
	return out
}

// escape validates one escape sequence, which may be a surrogate pair.
func (s *scanner) escape() error {
	if s.i+1 >= len(s.b) {
		return errSyntax
	}
	c := s.b[s.i+1]
	s.i += 2
	if c == 'u' {
		return s.unicode()
	}
	if strings.IndexByte(`"\/bfnrt`, c) < 0 {
		return errSyntax
	}
	return nil
}

func (s *scanner) unicode() error {
	r, ok := s.hex4()
	switch {
	case !ok:
		return errSyntax
	case r == 0:
		return errNUL
	case !utf16.IsSurrogate(r):
		return nil
	}
	if !bytes.HasPrefix(s.b[s.i:], []byte(`\u`)) {
		return errSurrogate
	}
	s.i += 2
	low, ok := s.hex4()
	if !ok {
		return errSyntax
	}
	if utf16.DecodeRune(r, low) == utf8.RuneError {
		return errSurrogate
	}
	return nil
}

func (s *scanner) hex4() (rune, bool) {
	if len(s.b)-s.i < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.b[s.i:s.i+4]), 16, 16)
	s.i += 4
	return rune(n), err == nil
}
