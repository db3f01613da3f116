package partner

import (
	"bytes"
	"errors"
)

// Bounds of what is looked at.
const (
	maxEntry   = 8 << 10
	maxEntries = 1000
	maxDepth   = 8 // of one row
)

var (
	errShape = errors.New("the answer has no such list")
	errCut   = errors.New("the answer is not whole")
)

// elements splits the list that a member of an object holds, without reading what is in
// it: a row that is broken, deep or large is one row, and what follows it is found all
// the same. Rows that are too large or too deep are left out. An answer that ends before
// its brackets do is none.
func elements(body []byte, member string) ([][]byte, error) {
	s := splitter{b: body}
	if !s.enter(member) {
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
		if !s.leave() {
			return nil, errCut
		}
		return out, nil
	}
}

// splitter walks over JSON text by its brackets alone.
type splitter struct {
	b  []byte
	at int
}

// text jumps over a text that begins here and gives it with its quotes.
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

// enter goes into the list of a member of the outermost object.
func (s *splitter) enter(member string) bool {
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

// next gives the element that begins here, how deep it is, and what stands behind it:
// a comma, the end of the list, or 0 where neither comes.
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

// leave goes out of the outermost object, behind which nothing stands.
func (s *splitter) leave() bool {
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
