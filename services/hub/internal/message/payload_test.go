package message

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/signalcast/signalcast/pkg/protocol"
)

func p[T any](v T) *T { return &v }

// TestReadPayload checks that each member is read into its field.
func TestReadPayload(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		of       Type
		attested bool
		payload  string
		want     Payload
	}{
		{ProfileUpdate, false, `{"avatar":null,"bio":"b","displayName":"Mara","links":["https://a.example"],"payoutAddress":"0x2222222222222222222222222222222222222222"}`, &Profile{
			DisplayName: p("Mara"), Bio: p("b"), Avatar: Clearable{Given: true}, Links: []string{"https://a.example"},
			PayoutAddress: Clearable{Given: true, Text: p("0x2222222222222222222222222222222222222222")},
		}},
		{StationCreate, false, `{"description":"d","lanes":["TECH"],"name":"n","operatorsUrl":"https://o.example","providers":["manual"],"stationId":"abc","tapesUrl":"https://t.example","url":"https://u.example"}`, &Station{
			StationID: "abc", Name: p("n"), URL: p("https://u.example"), Lanes: []protocol.Lane{"TECH"}, Providers: []protocol.Provider{"manual"},
			TapesURL: p("https://t.example"), OperatorsURL: p("https://o.example"), Description: p("d"),
		}},
		{StationUpdate, false, `{"lanes":[],"stationId":"abc","status":"paused"}`, &Station{StationID: "abc", Lanes: []protocol.Lane{}, Status: p("paused")}},
		{BroadcastCreate, false, `{"lane":"TECH","marketId":"1","scheduledFor":"2026-12-01T00:00:00+01:00","stationId":"abc","title":"t"}`, &Broadcast{
			Title: "t", MarketID: p(protocol.MarketID("1")), StationID: p("abc"), ScheduledFor: &at, Lane: p(protocol.LaneTech),
		}},
		{BroadcastGoLive, false, `{"broadcastId":"` + passport + `","label":"l","marketId":"1","url":"https://a.example/x.m3u8"}`, &GoLive{
			BroadcastID: passport, URL: "https://a.example/x.m3u8", MarketID: p(protocol.MarketID("1")), Label: p("l"),
		}},
		{SignalCreate, false, `{"eventId":"lmt-x","signal":"NO"}`, &Call{MarketID: "lmt-x", Position: protocol.No}},
		{PredictionCreate, true, `{"confidence":7,"credential":"app_token","filedAt":"2026-11-30T23:00:00Z","marketId":"1","marketTitle":"m","position":"YES","priceAtPrediction":6850,"priceBps":0,"signalId":"` + passport + `","take":"t"}`, &Call{
			MarketID: "1", Position: protocol.Yes, PriceBps: p(protocol.Bps(0)), Confidence: p(7), Take: p("t"), MarketTitle: p("m"),
		}},
		{MarketCreate, false, `{"cutoffAt":"2026-11-30T23:00:00Z","description":"d","initialYesBps":100,"lane":"OTHER","question":"Does it rain?","resolutionSource":"https://s.example","resolvesBy":"2026-11-30T23:00:00Z"}`, &Market{
			Question: "Does it rain?", CutoffAt: at, Lane: "OTHER", Description: p("d"), ResolvesBy: &at, ResolutionSource: p("https://s.example"), InitialYesBps: p(protocol.Bps(100)),
		}},
		{ResolutionCreate, true, `{"marketId":"native-x","proofUrl":"https://p.example","reason":"r","resolver":"admin","source":"manual","verdict":"NO"}`, &Resolution{
			MarketID: "native-x", Verdict: "NO", ProofURL: p("https://p.example"), Reason: p("r"),
		}},
	} {
		got, err := ReadPayload(c.of, []byte(c.payload), c.attested)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.of, got, err, c.want)
		}
	}
	if _, err := ReadPayload("x", []byte("{}"), false); why(err) != "invalid_request schema" {
		t.Error(err)
	}
	if _, err := ReadPayload(ProfileUpdate, []byte(`["bio"]`), false); why(err) != "invalid_request payload" {
		t.Error(err)
	}
}

// TestPayloadFaults checks that an error names the first invalid member, in the order of the schema, and its limit.
func TestPayloadFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of             Type
		payload, field string
		text           string // of the message
	}{
		{SignalCreate, `{"marketId":"1"}`, "position", "is missing"},
		{SignalCreate, `{"position":"YES"}`, "marketId", ""},
		{SignalCreate, `{"eventId":"1","marketId":"1","position":"YES"}`, "eventId", "is an alias of marketId"},
		{SignalCreate, `{"marketId":"polymarket:1","position":"YES"}`, "marketId", ""},
		{SignalCreate, `{"confidence":0,"marketId":"1","position":"YES"}`, "confidence", "must be an integer from 1 to 100"},
		{SignalCreate, `{"marketId":"1","position":"YES","signalId":"x"}`, "signalId", ""},
		{StationCreate, `{"stationId":"abc","status":"active"}`, "name", ""},
		{MarketCreate, `{"lane":"TECH","question":"Does it rain?"}`, "cutoffAt", ""},
		{SignalCreate, `{"position":"MAYBE"}`, "marketId", "is missing"},
		{SignalCreate, `{"MarketId":"1","position":"YES"}`, "marketId", "is missing"},
		{SignalCreate, `{"MarketId":"2","marketId":"1","position":"YES"}`, "MarketId", "is not a member of this payload"},
		{ProfileUpdate, `{"avatar":"http://x","displayName":"","other":1}`, "displayName", "must be 1 to 64 characters"},
		{
			StationUpdate, `{"lanes":["TECH","TECH"],"stationId":"abc"}`, "lanes",
			"must have entries that match the schema of the message type, each at most once",
		},
		{ProfileUpdate, `{"links":["http://x"]}`, "links", "must have entries that match the schema of the message type"},
		{SignalCreate, `{"marketId":"1","position":"MAYBE"}`, "position", "must be one of: YES, NO"},
		{StationUpdate, `{"lanes":1,"stationId":"abc"}`, "lanes", "must be a list of at most 11"},
	} {
		_, err := ReadPayload(c.of, []byte(c.payload), false)
		f, _ := asFault(err)
		if f == nil || why(err) != "invalid_request payload" || f.Extra[memberField] != c.field || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %s of %s", c.payload, err, c.text, c.field)
		}
	}
}

// TestStringMemberTexts checks that the error of each string member states the permitted values. mustMatch selects some texts by
// the start of the pattern, so a changed pattern can lose its text.
func TestStringMemberTexts(t *testing.T) {
	t.Parallel()
	generic := mustMatch(&jsonschema.Schema{Type: "string"})
	checked := 0
	for key, s := range payloadSchemas() {
		for _, m := range s.members {
			schema := m.value.Schema()
			if schema.Type == "integer" || schema.Type == "array" {
				continue
			}
			checked++
			if text := mustMatch(schema); strings.HasPrefix(text, generic) {
				t.Errorf("%s, attested %v: the error of %s is %q", key.payload, key.attested, m.names[0], text)
			}
		}
	}
	if checked == 0 {
		t.Error("no string member was checked")
	}
}
