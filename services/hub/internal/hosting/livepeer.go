package hosting

import (
	"context"
	"net/http"

	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// LivepeerName is the word of the setting.
const LivepeerName = "livepeer"

// LivepeerConfig is how Livepeer Studio is reached.
type LivepeerConfig struct {
	API      string // https://livepeer.studio
	Key      string
	Ingest   string // rtmp://rtmp.livepeer.com/live
	Playback string // https://livepeercdn.studio/hls
}

// Livepeer implements ingest.Provider.
type Livepeer struct {
	c   client
	cfg LivepeerConfig
}

// NewLivepeer asks nobody yet.
func NewLivepeer(cfg LivepeerConfig) Livepeer {
	return Livepeer{newClient(cfg.API, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+cfg.Key) }), cfg}
}

// livepeerAsk is a stream as it is asked for: nothing is transcoded, nothing recorded.
type livepeerAsk struct {
	Name     string     `json:"name"`
	Record   bool       `json:"record"`
	Profiles []struct{} `json:"profiles"`
}

type livepeerStream struct {
	ID         string `json:"id"`
	StreamKey  string `json:"streamKey"`
	PlaybackID string `json:"playbackId"`
}

// Name implements ingest.Provider.
func (Livepeer) Name() string { return LivepeerName }

// Provision implements ingest.Provider. A key there is never replaced: a new stream is
// made and the one before ended, first, so that its key opens nothing from then on.
func (l Livepeer) Provision(ctx context.Context, w ingest.Want) (ingest.Offer, error) {
	if w.Before != nil && w.Before.RemoteID != "" {
		if err := l.Withdraw(ctx, w.Before.RemoteID); err != nil {
			return ingest.Offer{}, err
		}
	}
	var st livepeerStream
	if err := l.c.ask(ctx, http.MethodPost, "/api/stream", livepeerAsk{Name: w.Handle.String(), Profiles: []struct{}{}}, &st); err != nil {
		return ingest.Offer{}, away(LivepeerName, err)
	}
	if !word(st.ID) || !word(st.PlaybackID) || st.StreamKey == "" {
		return ingest.Offer{}, away(LivepeerName, errAnswer)
	}
	return ingest.Offer{
		Protocol: "rtmp", URL: l.cfg.Ingest, Key: st.StreamKey, RemoteID: st.ID, HLSURL: l.cfg.Playback + "/" + st.PlaybackID + "/index.m3u8",
	}, nil
}

// Withdraw implements ingest.Provider.
func (l Livepeer) Withdraw(ctx context.Context, remoteID string) error {
	return l.c.withdraw(ctx, LivepeerName, "/api/stream", remoteID)
}

// Playback implements ingest.Provider.
func (Livepeer) Playback(s ingest.Stream) string { return s.HLSURL }
