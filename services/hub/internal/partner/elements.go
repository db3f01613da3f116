package partner

import (
	"bytes"
	"errors"
)

// Limits of parsing a partner's list: bytes of an entry, number of entries, nesting depth of an entry.
const (
	maxEntry   = 8 << 10
	maxEntries = 1000
	maxDepth   = 8 // nesting depth of one entry
)

var (
	errShape = errors.New("the response does not contain the list")
	errCut   = errors.New("the response is truncated")
)

// elements returns the elements of a list in a JSON object. The parameter member is the name of the list in the object.
// elements does not parse the elements, so a malformed one does not affect the following ones. It skips elements that are too
// large or nested too deep, and elements after the first maxEntries.
//
// Errors: errShape if the text is not an object with such a list, errCut if the text is truncated or malformed.
func elements(body []byte, member string) ([][]byte, error) {
	s := splitter{b: body}
	if !s.enterList(member) {
		return nil, errShape
	}
	var out [][]byte
	for {
		raw, depth, end := s.next()
		if end == 0 {
			return nil, errCut
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 && len(raw) <= maxEntry && depth <= maxDepth && len(out) < maxEntries {
			out = append(out, raw)
		}
		if end == ',' {
			continue
		}
		if !s.skipRest() {
			return nil, errCut
		}
		return out, nil
	}
}

// splitter splits JSON text into the elements of a list. It looks only at brackets, commas and strings.
type splitter struct {
	b  []byte
	at int
}

// text skips the string that begins at the current position. It returns the string with its quotes; nil if the string is
// truncated.
func (s *splitter) text() []byte {
	from := s.at
	for s.at++; s.at < len(s.b); s.at++ {
		switch s.b[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return s.b[from:s.at]
		}
	}
	s.at = len(s.b)
	return nil
}

func (s *splitter) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\t' || s.b[s.at] == '\n' || s.b[s.at] == '\r') {
		s.at++
	}
}

// enterList moves to the first element of a list. The list must be a member of the outermost object, and member is its name.
// If there is no such list, enterList returns false.
func (s *splitter) enterList(member string) bool {
	if s.space(); s.at == len(s.b) || s.b[s.at] != '{' {
		return false
	}
	s.at++
	for depth := 1; s.at < len(s.b); {
		switch s.b[s.at] {
		case '"':
			name := s.text()
			s.space()
			if depth != 1 || s.at == len(s.b) || s.b[s.at] != ':' || string(name) != `"`+member+`"` {
				continue
			}
			s.at++
			if s.space(); s.at == len(s.b) || s.b[s.at] != '[' {
				return false
			}
			s.at++
			return true
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return false
			}
		}
		s.at++
	}
	return false
}

// next returns the element at the current position, its nesting depth, and the character after it. That character is a comma, a
// closing square bracket, or 0 for malformed or truncated text.
func (s *splitter) next() (raw []byte, deepest int, end byte) {
	from, depth := s.at, 0
	for s.at < len(s.b) {
		switch c := s.b[s.at]; c {
		case '"':
			s.text()
			continue
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']', ',':
			if depth == 0 {
				raw = s.b[from:s.at]
				s.at++
				if c == '}' {
					return nil, deepest, 0
				}
				return raw, deepest, c
			}
			if c != ',' {
				depth--
			}
		}
		s.at++
	}
	return nil, deepest, 0
}

// skipRest skips the rest of the outermost object. It returns false if the object is truncated or if text follows it.
func (s *splitter) skipRest() bool {
	for depth := 1; s.at < len(s.b) && depth > 0; {
		switch s.b[s.at] {
		case '"':
			s.text()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.at++
				s.space()
				return s.at == len(s.b)
			}
		}
		s.at++
	}
	return false
}
