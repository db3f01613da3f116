package hosting

import (
	"context"
	"net/http"

	"github.com/signalcast/signalcast/services/hub/internal/ingest"
)

// MuxName is the value of INGEST_PROVIDER for Mux.
const MuxName = "mux"

// MuxConfig holds the address and credentials of Mux.
type MuxConfig struct {
	API         string // https://api.mux.com
	TokenID     string
	TokenSecret string
	Ingest      string // rtmps://global-live.mux.com:443/app
	Playback    string // https://stream.mux.com
}

// Mux provisions streams at Mux. It implements ingest.Provider.
type Mux struct {
	c   client
	cfg MuxConfig
}

// NewMux returns the provider for Mux. It sends no request.
func NewMux(cfg MuxConfig) Mux {
	return Mux{newClient(cfg.API, func(r *http.Request) { r.SetBasicAuth(cfg.TokenID, cfg.TokenSecret) }), cfg}
}

// muxRequest is the body of a request that creates a stream. Mux records each stream into an asset,
// from which clips are created.
type muxRequest struct {
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

// Provision implements ingest.Provider. It resets the key of the previous stream. If that stream no longer exists at Mux, or if
// it has another latency, Provision creates a new stream.
func (m Mux) Provision(ctx context.Context, w ingest.Want) (ingest.Offer, error) {
	var a muxAnswer
	if b := w.Before; b != nil && isID(b.RemoteID) {
		if b.Latency == w.Latency {
			err := m.c.call(ctx, http.MethodPost, muxStreams+"/"+b.RemoteID+"/reset-stream-key", nil, &a)
			if err == nil {
				return m.offer(a)
			}
			if !isNotFound(err) {
				return ingest.Offer{}, unavailable(MuxName, err)
			}
		} else if err := m.Withdraw(ctx, b.RemoteID); err != nil {
			return ingest.Offer{}, err
		}
	}
	if err := m.c.call(ctx, http.MethodPost, muxStreams, muxRequest{Policies: []string{"public"}, Latency: string(w.Latency)}, &a); err != nil {
		return ingest.Offer{}, unavailable(MuxName, err)
	}
	return m.offer(a)
}

func (m Mux) offer(a muxAnswer) (ingest.Offer, error) {
	for _, p := range a.Data.Playback {
		if p.Policy != "public" || !isID(p.ID) || !isID(a.Data.ID) || a.Data.StreamKey == "" {
			continue
		}
		return ingest.Offer{
			Protocol: "rtmps", URL: m.cfg.Ingest, Key: a.Data.StreamKey, RemoteID: a.Data.ID, HLSURL: m.cfg.Playback + "/" + p.ID + ".m3u8",
		}, nil
	}
	return ingest.Offer{}, unavailable(MuxName, errAnswer)
}

// Withdraw implements ingest.Provider.
func (m Mux) Withdraw(ctx context.Context, remoteID string) error {
	return m.c.withdraw(ctx, MuxName, muxStreams, remoteID)
}

// Playback implements ingest.Provider.
func (Mux) Playback(s ingest.Stream) string { return s.HLSURL }
