package hosting

import (
	"context"
	"net/http"

	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// MuxName is the word of the setting.
const MuxName = "mux"

// MuxConfig is how Mux is reached.
type MuxConfig struct {
	API         string // https://api.mux.com
	TokenID     string
	TokenSecret string
	Ingest      string // rtmps://global-live.mux.com:443/app
	Playback    string // https://stream.mux.com
}

// Mux implements ingest.Provider.
type Mux struct {
	c   client
	cfg MuxConfig
}

// NewMux asks nobody yet.
func NewMux(cfg MuxConfig) Mux {
	return Mux{newClient(cfg.API, func(r *http.Request) { r.SetBasicAuth(cfg.TokenID, cfg.TokenSecret) }), cfg}
}

// muxAsk has no settings of an asset: nothing is recorded for later.
type muxAsk struct {
	Policies []string `json:"playback_policies"`
	Latency  string   `json:"latency_mode"`
}

type muxAnswer struct {
	Data struct {
		ID        string `json:"id"`
		StreamKey string `json:"stream_key"`
		Playback  []struct {
			ID     string `json:"id"`
			Policy string `json:"policy"`
		} `json:"playback_ids"`
	} `json:"data"`
}

const muxStreams = "/video/v1/live-streams"

// Name implements ingest.Provider.
func (Mux) Name() string { return MuxName }

// Provision implements ingest.Provider. A stream that is there gets a new key; one that
// has gone there, or is to be of another latency, is made again.
func (m Mux) Provision(ctx context.Context, w ingest.Want) (ingest.Offer, error) {
	var a muxAnswer
	if b := w.Before; b != nil && word(b.RemoteID) {
		if b.Latency == w.Latency {
			err := m.c.ask(ctx, http.MethodPost, muxStreams+"/"+b.RemoteID+"/reset-stream-key", nil, &a)
			if err == nil {
				return m.offer(a)
			}
			if !gone(err) {
				return ingest.Offer{}, away(MuxName, err)
			}
		} else if err := m.Withdraw(ctx, b.RemoteID); err != nil {
			return ingest.Offer{}, err
		}
	}
	if err := m.c.ask(ctx, http.MethodPost, muxStreams, muxAsk{Policies: []string{"public"}, Latency: string(w.Latency)}, &a); err != nil {
		return ingest.Offer{}, away(MuxName, err)
	}
	return m.offer(a)
}

func (m Mux) offer(a muxAnswer) (ingest.Offer, error) {
	for _, p := range a.Data.Playback {
		if p.Policy != "public" || !word(p.ID) || !word(a.Data.ID) || a.Data.StreamKey == "" {
			continue
		}
		return ingest.Offer{
			Protocol: "rtmps", URL: m.cfg.Ingest, Key: a.Data.StreamKey, RemoteID: a.Data.ID, HLSURL: m.cfg.Playback + "/" + p.ID + ".m3u8",
		}, nil
	}
	return ingest.Offer{}, away(MuxName, errAnswer)
}

// Withdraw implements ingest.Provider.
func (m Mux) Withdraw(ctx context.Context, remoteID string) error {
	return m.c.withdraw(ctx, MuxName, muxStreams, remoteID)
}

// Playback implements ingest.Provider.
func (Mux) Playback(s ingest.Stream) string { return s.HLSURL }
