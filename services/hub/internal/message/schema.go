package message

import "embed"

//go:embed schemas/*.json
var schemas embed.FS

// Schema is the JSON Schema (2020-12) of a type's payload: of what clients sign,
// or of what the hub attests. Types whose attested payload has no members of its
// own have one schema. False for a word that is no type.
func Schema(t Type, attested bool) ([]byte, bool) {
	if _, known := ParseType(string(t)); !known {
		return nil, false
	}
	name := "schemas/" + string(t)
	if attested {
		if b, err := schemas.ReadFile(name + ".attested.json"); err == nil {
			return b, true
		}
	}
	b, err := schemas.ReadFile(name + ".json")
	return b, err == nil
}
