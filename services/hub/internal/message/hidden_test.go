package message

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	moderationv1 "github.com/signalcast/signalcast/proto/moderation/v1"
)

type thing = *moderationv1.Thing

func TestTextOfMessages(t *testing.T) {
	t.Parallel()
	const denpaID = "7b5a1d5e-0000-4000-8000-000000000001"
	profile := &moderationv1.Thing{Kind: "profile", Id: denpaID}
	for _, tc := range []struct {
		name    string
		kind    Type
		payload string
		result  string
		want    []thing
	}{
		{"call without text", SignalCreate, `{"marketId":"7","position":"YES"}`, `{"signalId":"s"}`, nil},
		{"call with a take", SignalCreate, `{"marketId":"7","take":"x"}`, `{"signalId":"s"}`, []thing{{Kind: "signal", Id: "s"}}},
		{"call with an empty take", SignalCreate, `{"marketId":"7","take":""}`, `{"signalId":"s"}`, nil},
		{
			"call with a take and a title", PredictionCreate, `{"eventId":"7","marketTitle":"y","take":"x"}`, `{"signalId":"s"}`,
			[]thing{{Kind: "signal", Id: "s"}, {Kind: "market", Id: "7"}},
		},
		{"market", MarketCreate, `{"question":"x"}`, `{"marketId":"native-1"}`, []thing{{Kind: "market", Id: "native-1"}}},
		{"outcome without text", ResolutionCreate, `{"marketId":"native-1","verdict":"NO"}`, ``, nil},
		{"outcome with a reason", ResolutionCreate, `{"marketId":"native-1","reason":"x"}`, ``, []thing{{Kind: "market", Id: "native-1"}}},
		{"outcome with a proof", ResolutionCreate, `{"marketId":"native-1","proofUrl":"https://a.example"}`, ``, []thing{{Kind: "market", Id: "native-1"}}},
		{"new station", StationCreate, `{"stationId":"oker","name":"x"}`, `{"stationId":"oker"}`, []thing{{Kind: "station", Id: "oker"}}},
		{"station", StationUpdate, `{"description":"x","stationId":"oker"}`, `{"stationId":"oker"}`, []thing{{Kind: "station", Id: "oker"}}},
		{"profile", ProfileUpdate, `{"bio":"x"}`, ``, []thing{profile}},
		{"broadcast", BroadcastCreate, `{"title":"x"}`, `{"broadcastId":"b"}`, []thing{profile}},
		{"go-live", BroadcastGoLive, `{"label":"x"}`, `{"showId":"b"}`, []thing{profile}},
	} {
		r := Record{ID: "msg_1", Type: tc.kind, DenpaID: denpaID, Body: []byte(`{"payload":` + tc.payload + `}`)}
		if tc.result != "" {
			r.Result = []byte(tc.result)
		}
		equal := func(a, b thing) bool { return proto.Equal(a, b) }
		if got, err := textOf(&r); err != nil || !slices.EqualFunc(got, tc.want, equal) {
			t.Errorf("%s: %v, %v; want %v", tc.name, got, err, tc.want)
		}
	}
}
