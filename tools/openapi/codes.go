package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// code is an error code of the error page, with its HTTP status and its meaning.
type code struct{ name, status, meaning string }

var row = regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| *(\\d{3}|frame) *\\|([^|]*)\\|")

// statusCodes returns the table rows of the error page whose first cell is an error code and whose second cell is an HTTP
// status or "frame". "frame" means an error that a websocket sends.
func statusCodes(page []byte) ([]code, error) {
	var all []code
	seen := map[string]bool{}
	for _, m := range row.FindAllSubmatch(page, -1) {
		c := code{string(m[1]), string(m[2]), strings.TrimSpace(string(m[3]))}
		if seen[c.name] {
			return nil, fmt.Errorf("%s is listed twice", c.name)
		}
		seen[c.name] = true
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("no codes")
	}
	return all, nil
}

// initialisms maps parts of an error code to their spelling in Go names.
var initialisms = map[string]string{"id": "ID", "url": "URL", "pct": "Percent"}

// goName returns the Go name of the error code, for example ErrAlreadyPredicted for already_predicted.
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

// says returns the first sentence of the meaning without its full stop, for a comment in the client libraries. For an empty
// meaning it returns a fixed text.
func (c code) says() string {
	text, _, _ := strings.Cut(strings.ReplaceAll(c.meaning, "`", ""), ". ")
	if text == "" {
		return "a required member or parameter is missing"
	}
	return strings.TrimSuffix(text, ".")
}
