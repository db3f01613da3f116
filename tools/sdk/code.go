package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// code is one row of the error page.
type code struct{ name, status, meaning string }

var row = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| ([^|]*) \\|([^|]*)\\|")

// codesOf reads the rows whose first cell is a code; the second is its status, or where a
// frame of the websocket says it.
func codesOf(page []byte) ([]code, error) {
	var all []code
	seen := map[string]bool{}
	for _, m := range row.FindAllSubmatch(page, -1) {
		c := code{string(m[1]), strings.TrimSpace(string(m[2])), strings.TrimSpace(string(m[3]))}
		if !regexp.MustCompile(`^(\d{3}|frame)$`).MatchString(c.status) {
			continue // the table of X-Degraded
		}
		if seen[c.name] {
			return nil, fmt.Errorf("%s stands there twice", c.name)
		}
		seen[c.name] = true
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("no codes")
	}
	return all, nil
}

// initialisms are the parts that Go spells in capitals.
var initialisms = map[string]string{"id": "ID", "url": "URL", "pct": "Percent"}

// goName is the name of a code in Go: already_predicted is ErrAlreadyPredicted.
func (c code) goName() string {
	name := "Err"
	for part := range strings.SplitSeq(c.name, "_") {
		if known := initialisms[part]; known != "" {
			name += known
		} else {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return name
}

// says is the meaning for a comment: the first sentence of the page.
func (c code) says() string {
	text, _, _ := strings.Cut(strings.ReplaceAll(c.meaning, "`", ""), ". ")
	if text == "" {
		return "a required member or parameter is not there"
	}
	return strings.TrimSuffix(text, ".")
}
