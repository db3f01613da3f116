package message

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
)

var errNoObject = errors.New("no JSON object")

// object reads the members of a canonical object by their exact names.
func object(canonical []byte) (map[string]json.RawMessage, error) {
	if len(canonical) == 0 || canonical[0] != '{' {
		return nil, errNoObject
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(canonical, &members); err != nil {
		return nil, err
	}
	return members, nil
}

// text reads a string; false for anything else, a missing member too.
func text(canonical json.RawMessage) (string, bool) {
	if len(canonical) == 0 || canonical[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(canonical, &s)
	return s, err == nil
}

// only wants exactly these members. Faults: invalid_request with reason
// unknown_member or schema.
func only(members map[string]json.RawMessage, under string, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(names, name) {
			return invalid(ReasonMember, "no such member").With(memberField, under+name)
		}
	}
	for _, name := range names {
		if _, there := members[name]; !there {
			return badMember(under+name, "%s is missing", under+name)
		}
	}
	return nil
}

// isUUID wants the one usual spelling, in lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !isHex(s[i:i+1], 1) {
			return false
		}
	}
	return true
}

// isWord wants low to high letters of the URL-safe alphabet.
func isWord(s string, low, high int) bool {
	if len(s) < low || len(s) > high {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// stamps is the form of a time: RFC 3339 with a capital T and Z and a year from 1000 to 2999. syntax.ParseStamp checks that the
// date exists.
var stamps = regexp.MustCompile(`^[12][0-9]{3}-[0-9]{2}-[0-9]{2}` +
	`T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)
