package message

import (
	"slices"
	"testing"
)

func TestTextOfMessages(t *testing.T) {
	t.Parallel()
	const denpaID = "7b5a1d5e-0000-4000-8000-000000000001"
	profile := Thing{Kind: "profile", ID: denpaID}
	for _, tc := range []struct {
		name    string
		kind    Type
		payload string
		result  string
		want    []Thing
	}{
		{"call without text", SignalCreate, `{"marketId":"7","position":"YES"}`, `{"signalId":"s"}`, nil},
		{"call with a take", SignalCreate, `{"marketId":"7","take":"x"}`, `{"signalId":"s"}`, []Thing{{Kind: "signal", ID: "s"}}},
		{"call with an empty take", SignalCreate, `{"marketId":"7","take":""}`, `{"signalId":"s"}`, nil},
		{
			"call with a take and a title", PredictionCreate, `{"eventId":"7","marketTitle":"y","take":"x"}`, `{"signalId":"s"}`,
			[]Thing{{Kind: "signal", ID: "s"}, {Kind: "market", ID: "7"}},
		},
		{"market", MarketCreate, `{"question":"x"}`, `{"marketId":"native-1"}`, []Thing{{Kind: "market", ID: "native-1"}}},
		{"outcome without text", ResolutionCreate, `{"marketId":"native-1","verdict":"NO"}`, ``, nil},
		{"outcome with a reason", ResolutionCreate, `{"marketId":"native-1","reason":"x"}`, ``, []Thing{{Kind: "market", ID: "native-1"}}},
		{"outcome with a proof", ResolutionCreate, `{"marketId":"native-1","proofUrl":"https://a.example"}`, ``, []Thing{{Kind: "market", ID: "native-1"}}},
		{"new station", StationCreate, `{"stationId":"oker","name":"x"}`, `{"stationId":"oker"}`, []Thing{{Kind: "station", ID: "oker"}}},
		{"station", StationUpdate, `{"description":"x","stationId":"oker"}`, `{"stationId":"oker"}`, []Thing{{Kind: "station", ID: "oker"}}},
		{"profile", ProfileUpdate, `{"bio":"x"}`, ``, []Thing{profile}},
		{"broadcast", BroadcastCreate, `{"title":"x"}`, `{"broadcastId":"b"}`, []Thing{profile}},
		{"go-live", BroadcastGoLive, `{"label":"x"}`, `{"showId":"b"}`, []Thing{profile}},
	} {
		r := Record{ID: "msg_1", Type: tc.kind, DenpaID: denpaID, Body: []byte(`{"payload":` + tc.payload + `}`)}
		if tc.result != "" {
			r.Result = []byte(tc.result)
		}
		if got, err := textOf(&r); err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, %v; want %v", tc.name, got, err, tc.want)
		}
	}
}
