package conform

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/proto/testvectors"
)

// byForm are reasons that every server finds, whatever signers it knows.
var byForm = []string{"not_canonicalizable", "unknown_member", "schema"}

// goldenMessages sends golden messages to the dry run of the server. Malformed ones must be refused with their reason. The
// signers of well-formed ones are unknown to the server, or have another issuer: the answer must be valid: false.
func goldenMessages(ctx context.Context, r *run) {
	var file struct {
		Issuer  string
		Valid   []struct{ Name, Raw string }
		Invalid []struct {
			Name, Raw, RawHex, Error, Reason string
			PadTo                            int
		}
	}
	if err := json.Unmarshal(testvectors.Messages, &file); err != nil {
		r.skip(err.Error())
		return
	}
	verify := func(name, raw string) *answer {
		a := r.send(ctx, request{method: http.MethodPost, host: hub, path: protocolBase + "/messages/verify", body: raw})
		a.path += " (" + name + ")"
		return a
	}
	for _, v := range file.Invalid {
		raw := v.Raw
		if v.RawHex != "" {
			b, err := hex.DecodeString(v.RawHex)
			if err != nil {
				continue
			}
			raw = string(b)
		}
		if v.PadTo > len(raw) {
			raw += strings.Repeat(" ", v.PadTo-len(raw))
		}
		switch {
		case v.Error == "payload_too_large":
			a := verify(v.Name, raw)
			r.refused(a, http.StatusRequestEntityTooLarge, v.Error)
		case slices.Contains(byForm, v.Reason):
			a := verify(v.Name, raw)
			refused := text(a.value, "reason") == v.Reason && a.status == http.StatusBadRequest
			for _, reason := range list(a.value, "reasons") {
				refused = refused || reason == v.Reason && a.status == http.StatusOK && at(a.value, "valid") == false
			}
			r.due(refused, a, "refused, reason "+v.Reason, a.came()+" "+text(a.value, "reason")+say(at(a.value, "reasons")))
		}
	}
	for i, v := range file.Valid {
		if i%4 != 0 && !strings.Contains(v.Name, "text") && !strings.Contains(v.Name, "spell") { // a few of the plain ones, and all that are hard to read
			continue
		}
		a := verify(v.Name, v.Raw)
		if r.status(a, http.StatusOK) {
			r.due(at(a.value, "valid") == false, a, "valid: false, as this key is not registered here", "valid: "+say(at(a.value, "valid")))
		}
	}
}

// goldenPayloads has the server's own schemas judge the golden payloads.
func goldenPayloads(ctx context.Context, r *run) {
	var file struct {
		Payloads []struct {
			Schema  string `json:"schema"`
			Valid   bool   `json:"valid"`
			Name    string `json:"name"`
			Payload any    `json:"payload"`
		} `json:"payloads"`
	}
	if err := json.Unmarshal(testvectors.Payloads, &file); err != nil {
		r.skip(err.Error())
		return
	}
	for _, kind := range messageTypes {
		a := r.get(ctx, hub, protocolBase+"/schemas/"+kind)
		if !r.status(a, http.StatusOK) {
			continue
		}
		if away := reachesOut(a.value); !r.due(away == "", a, "a schema that refers to itself alone", away) {
			continue
		}
		schema := &openapi3.Schema{}
		if !r.due(json.Unmarshal(a.body, schema) == nil, a, "a JSON Schema") {
			continue
		}
		for _, p := range file.Payloads {
			if p.Schema != kind {
				continue
			}
			err := schema.VisitJSON(p.Payload, openapi3.EnableJSONSchema2020(), openapi3.WithStringFormatValidator("date-time", calendar))
			r.due((err == nil) == p.Valid, a, fmt.Sprintf("%s: valid is %v", p.Name, p.Valid), fmt.Sprint(err == nil))
		}
	}
}

// reachesOut gives a reference that leads out of a schema. Nothing is fetched for one.
func reachesOut(v any) (away string) {
	each(v, "", func(_ string, o map[string]any) {
		for _, name := range []string{"$ref", "$dynamicRef", "$schema"} {
			ref, there := o[name].(string)
			if there && !strings.HasPrefix(ref, "#") && ref != "https://json-schema.org/draft/2020-12/schema" {
				away = ref
			}
		}
	})
	return away
}

// weakKeys sends weak keys of the golden signatures to the server: of small or mixed order, or in a second encoding. With
// such a key one signature fits many messages.
func weakKeys(ctx context.Context, r *run) {
	var file struct {
		Cases []struct {
			Source    string
			ID        int
			PublicKey string
		}
	}
	if err := json.Unmarshal(testvectors.Ed25519, &file); err != nil {
		r.skip(err.Error())
		return
	}
	weak := []int{0, 2, 3, 10} // of speccheck; the others have one of their keys, or one that is sound
	for _, c := range file.Cases {
		if c.Source == "speccheck" && slices.Contains(weak, c.ID) {
			a := r.send(ctx, request{method: http.MethodPost, host: hub, path: protocolBase + "/signers/challenge", key: true, body: object("publicKey", c.PublicKey)})
			a.path += " (" + c.PublicKey[:8] + "…)"
			r.refused(a, http.StatusBadRequest, "weak_key")
		}
	}
}
