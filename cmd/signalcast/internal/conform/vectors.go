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

// formReasons are the reasons of refusals that depend only on the message, not on the signers that are registered at the
// server.
var formReasons = []string{"not_canonicalizable", "unknown_member", "schema"}

// goldenMessages sends the messages of the test vectors to the route that verifies a message without storing it. The server
// must refuse malformed messages with the expected reason. For well-formed messages it must return valid: false, because
// their signers are not registered.
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
		case slices.Contains(formReasons, v.Reason):
			a := verify(v.Name, raw)
			refused := text(a.value, "reason") == v.Reason && a.status == http.StatusBadRequest
			for _, reason := range list(a.value, "reasons") {
				refused = refused || reason == v.Reason && a.status == http.StatusOK && at(a.value, "valid") == false
			}
			r.expect(refused, a, "refused, reason "+v.Reason, a.summary()+" "+text(a.value, "reason")+describe(at(a.value, "reasons")))
		}
	}
	for i, v := range file.Valid {
		// send every fourth message, and all messages with unusual texts or numbers
		if i%4 != 0 && !strings.Contains(v.Name, "text") && !strings.Contains(v.Name, "spell") {
			continue
		}
		a := verify(v.Name, v.Raw)
		if r.status(a, http.StatusOK) {
			r.expect(at(a.value, "valid") == false, a, "valid: false, because the key is not registered",
				"valid: "+describe(at(a.value, "valid")))
		}
	}
}

// goldenPayloads reads the payload schemas of the server and validates the payloads of the test vectors with them.
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
		if ref := externalRef(a.value); !r.expect(ref == "", a, "a schema without external references", ref) {
			continue
		}
		schema := &openapi3.Schema{}
		if !r.expect(json.Unmarshal(a.body, schema) == nil, a, "a JSON Schema") {
			continue
		}
		for _, p := range file.Payloads {
			if p.Schema != kind {
				continue
			}
			err := schema.VisitJSON(p.Payload, openapi3.EnableJSONSchema2020(), openapi3.WithStringFormatValidator("date-time", dateTime))
			r.expect((err == nil) == p.Valid, a, fmt.Sprintf("%s: valid is %v", p.Name, p.Valid), fmt.Sprint(err == nil))
		}
	}
}

// externalRef returns a reference from the schema v to another document, or "" if there is none. The run fetches no
// referenced document.
func externalRef(v any) (external string) {
	each(v, "", func(_ string, o map[string]any) {
		for _, name := range []string{"$ref", "$dynamicRef", "$schema"} {
			ref, there := o[name].(string)
			if there && !strings.HasPrefix(ref, "#") && ref != "https://json-schema.org/draft/2020-12/schema" {
				external = ref
			}
		}
	})
	return external
}

// weakKeys requests the registration of weak public keys, which the server must refuse: keys of small or mixed order, and keys
// in a non-canonical encoding. With a weak key, one signature can be valid for many messages.
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
	weak := []int{0, 2, 3, 10} // cases of speccheck; the other cases repeat these keys or have a strong key
	for _, c := range file.Cases {
		if c.Source == "speccheck" && slices.Contains(weak, c.ID) {
			a := r.send(ctx, request{
				method: http.MethodPost, host: hub, path: protocolBase + "/signers/challenge", key: true,
				body: object("publicKey", c.PublicKey),
			})
			a.path += " (" + c.PublicKey[:8] + "…)"
			r.refused(a, http.StatusBadRequest, "weak_key")
		}
	}
}
