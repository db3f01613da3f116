package feed

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestChecks(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1760000000123)
	for name, f := range map[string]Fact{
		"no id":                   {Type: StreamBound, At: at, Data: []byte(`{}`)},
		"no time":                 {ID: "x", Type: StreamBound, Data: []byte(`{}`)},
		"a type of the ledger":    {ID: "x", Type: SignalCreated, At: at, Data: []byte(`{}`)},
		"an unknown type":         {ID: "x", Type: "stream.lost", At: at, Data: []byte(`{}`)},
		"a segment without topic": {ID: "x", Type: SegmentStarted, At: at, Data: []byte(`{}`)},
		"a segment of a market":   {ID: "x", Type: SegmentStarted, Topic: "market:1", At: at, Data: []byte(`{}`)},
		"a stream of a programme": {ID: "x", Type: StreamBound, Topic: "program:hot", At: at, Data: []byte(`{}`)},
		"no object":               {ID: "x", Type: StreamBound, At: at, Data: []byte(`[]`)},
		"two lines":               {ID: "x", Type: StreamBound, At: at, Data: []byte("{\n}")},
		"half an object":          {ID: "x", Type: StreamBound, At: at, Data: []byte(`{`)},
		"too much":                {ID: "x", Type: StreamBound, At: at, Data: []byte(`{"a":"` + strings.Repeat("x", maxData) + `"}`)},
	} {
		if err := f.Check(); !errors.Is(err, ErrFact) {
			t.Errorf("%s: Check returned %v, want ErrFact", name, err)
		}
	}
	for _, f := range []Fact{
		{ID: "x", Type: StreamBound, At: at, Data: []byte(`{"a":1}`)}, {ID: "x", Type: SegmentStarted, Topic: "program:hot:SCIENCE", At: at, Data: []byte(`{}`)},
	} {
		if err := f.Check(); err != nil {
			t.Errorf("Check of %+v: %v", f, err)
		}
	}
	news := Ephemeral{Channel: "me:mara", Type: FollowCreated, At: at, Data: []byte(`{"handle": "tide"}`)}
	if err := news.Check(); err != nil || string(news.Data) != `{"handle":"tide"}` {
		t.Errorf("Check changed the data to %s, %v", news.Data, err)
	}
	for name, e := range map[string]Ephemeral{
		"no channel": {Type: FollowCreated, Data: []byte(`{}`)},
		"a number":   {Channel: "live", Type: OperatorLive, Data: []byte(`{}`)},
		"two lines":  {Channel: "live", Type: ViewersUpdated, Subject: "a\nb", Data: []byte(`{}`)},
		"no data":    {Channel: "live", Type: ViewersUpdated},
	} {
		if err := e.Check(); !errors.Is(err, ErrFact) {
			t.Errorf("%s: Check returned %v, want ErrFact", name, err)
		}
	}
	if err := (&Copy{Channel: "live", At: at, Data: []byte(`{}`)}).Check(); err != nil {
		t.Error(err)
	}
	long := []byte(`{"a":"` + strings.Repeat("x", maxData) + `"}`)
	for channel, fits := range map[Channel]bool{"live": true, "station:tide": true, "overlay:mara": false, "operator:mara": false} {
		if err := (&Copy{Channel: channel, At: at, Data: long}).Check(); (err == nil) != fits {
			t.Errorf("a long copy of %s: %v", channel, err)
		}
	}
	for _, w := range []Watching{{Viewers: 1, At: at}, {Handle: "mara", Viewers: -1, At: at}, {Handle: "mara", Viewers: 1}} {
		if err := w.Check(); !errors.Is(err, ErrFact) {
			t.Errorf("Check of %+v: %v, want ErrFact", w, err)
		}
	}
	if err := (&Copy{At: at, Data: []byte(`{}`)}).Check(); !errors.Is(err, ErrFact) {
		t.Error(err)
	}
}
