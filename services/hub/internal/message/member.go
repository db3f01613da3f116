package message

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
)

var errNoObject = errors.New("the value must be a JSON object")

// object returns the members of a canonical JSON object by name. Names are case-sensitive. It returns an error for any other JSON
// value.
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

// text decodes a JSON string. It returns false for any other JSON value and for an absent member.
func text(canonical json.RawMessage) (string, bool) {
	if len(canonical) == 0 || canonical[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(canonical, &s)
	return s, err == nil
}

// requireMembers returns an error unless members has exactly the given names. under is the prefix of the names in errors. Errors:
// invalid_request with reason unknown_member or schema.
func requireMembers(members map[string]json.RawMessage, under string, names ...string) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(names, name) {
			return invalid(ReasonMember, "%s is not a member of a message", under+name).With(memberField, under+name)
		}
	}
	for _, name := range names {
		if _, there := members[name]; !there {
			return badMember(under+name, "%s is missing", under+name)
		}
	}
	return nil
}

// isUUID reports whether s is a UUID in canonical lower-case form.
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

// isWord reports whether s has low to high characters, all of them A-Z, a-z, 0-9, _ or -.
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

// stamps matches a time in RFC 3339 with a capital T, a capital Z or a numeric offset, and a year from 1000 to 2999. It does not
// check that the date exists; protocol.ParseStamp does.
var stamps = regexp.MustCompile(`^[12][0-9]{3}-[0-9]{2}-[0-9]{2}` +
	`T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)
