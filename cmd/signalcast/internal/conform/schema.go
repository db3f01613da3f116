package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/signalcast/signalcast/proto/openapi"
)

// document is the OpenAPI document that is embedded in this program. Its schemas allow additional members.
type document struct{ spec *openapi3.T }

// additions lists, by schema, the members that Signalcast adds to the protocol. The embedded document requires them, but
// servers of other projects may omit them.
var additions = map[string][]string{
	"Signal": callMembers, "Receipt": callMembers, "LedgerSignal": callMembers, "RecordCall": callMembers,
	"SessionReceipt": callMembers, "Crowd": callMembers,
	"FeedSignal":    append([]string{"id", "receiptUrl"}, callMembers...),
	"EmbedOperator": {"shortUrl"}, "EmbedMarket": {"shortUrl"}, "EmbedSignal": {"shortUrl"},
	"Market": {"volumeUnit"}, "MarketRow": {"volumeUnit"}, "VenueMarket": {"volumeUnit"},
	"ScoreRow": {"edge"}, "BroadcastRow": {"edge"}, "ScoreBoard": {"order"}, "BroadcastBoard": {"order"},
	"OEmbed": {"provider_name", "provider_url", "cache_age", "thumbnail_url", "thumbnail_width", "thumbnail_height"},
	"Feed":   {"head", "gap"},
}

// callMembers are the members that Signalcast adds to every object that describes a call.
var callMembers = []string{
	"marketYesAtSignal", "closesAtSignal", "scoreBasisBps", "priceVerified", "rated", "counted", "reason", "quoteAt", "confirmedAt",
}

// loadDocument returns the embedded OpenAPI document, in which the members of additions are optional. It parses the document
// only once.
var loadDocument = sync.OnceValues(func() (*document, error) {
	all := decode(openapi.JSON)
	for name, members := range additions {
		schema, _ := at(all, "components.schemas."+name).(map[string]any)
		if schema == nil {
			return nil, fmt.Errorf("the OpenAPI document has no schema %s", name)
		}
		each(schema, name, func(_ string, o map[string]any) {
			if required, is := o["required"].([]any); is {
				o["required"] = slices.DeleteFunc(required, func(m any) bool { return slices.Contains(members, fmt.Sprint(m)) })
			}
		})
	}
	each(all, "", func(_ string, o map[string]any) { // openapi3 does not validate const, but it validates enum
		if value, is := o["const"]; is {
			o["enum"] = []any{value}
		}
	})
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	spec, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, fmt.Errorf("the OpenAPI document is invalid: %w", err)
	}
	return &document{spec}, nil
})

// dateTime validates texts of the format date-time. Without this validator, openapi3 accepts any text.
var dateTime = openapi3.NewCallbackValidator(func(s string) error {
	_, err := time.Parse(time.RFC3339, s)
	return err
})

// differs compares v with the schema of the response to a GET request and describes a difference. It returns "" if v matches.
// The parameter template is the path in the document, and status is the status of the response.
func (d *document) differs(template string, status int, v any) string {
	item := d.spec.Paths.Value(template)
	if item == nil || item.Get == nil || item.Get.Responses.Status(status) == nil {
		return fmt.Sprintf("the document does not describe %s with status %d", template, status)
	}
	media := item.Get.Responses.Status(status).Value.Content["application/json"]
	if media == nil {
		return "the document does not describe " + template + " as JSON"
	}
	err := media.Schema.Value.VisitJSON(v, openapi3.VisitAsResponse(), openapi3.WithStringFormatValidator("date-time", dateTime))
	if err == nil {
		return ""
	}
	if s := (*openapi3.SchemaError)(nil); errors.As(err, &s) {
		return strings.Join(s.JSONPointer(), ".") + ": " + s.Reason
	}
	return err.Error()
}
