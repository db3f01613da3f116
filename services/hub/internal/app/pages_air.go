package app

import (
	"context"

	"github.com/signalcast/signalcast/pkg/syntax"
	"github.com/signalcast/signalcast/services/hub/internal/edge/pages"
	"github.com/signalcast/signalcast/services/hub/internal/ingest"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// air returns what the live page of an operator shows: nothing unless an administrator
// approved the operator.
func (a *App) air(ctx context.Context, handle syntax.Handle) (pages.OnAir, error) {
	out := pages.OnAir{State: "idle"}
	if approved, err := a.onair.Approved(ctx, string(handle)); err != nil || !approved {
		return out, err
	}
	out.Approved = true
	last, found, err := a.onair.Last(ctx, handle)
	if err != nil {
		return out, err
	}
	switch {
	case found && last.Live():
		out = pages.OnAir{Approved: true, State: "live", HLSURL: last.URL, StartedAt: last.StartedAt, Viewers: a.onair.Viewers(ctx, handle)}
	case found && !last.Open():
		out.State = "ended"
	}
	over, set, err := a.onair.Overlay(ctx, handle)
	if err != nil || !set {
		return out, err
	}
	out.Signal = pages.OverlaySignal{MarketID: over.MarketID, Name: over.Name, YesPct: over.YesPct, ClosesAt: over.ClosesAt}
	if over.Annotation != nil {
		out.Signal.Note = *over.Annotation
	}
	return out, nil
}

// onScreen returns the addresses of the streams of approved operators that are live now.
func (a *App) onScreen(ctx context.Context) ([]string, error) {
	shows, err := a.onair.Live(ctx)
	out := make([]string, 0, len(shows))
	for i := range shows {
		if shows[i].Approved {
			out = append(out, shows[i].HLSURL)
		}
	}
	return out, err
}

// provisioner is nil where no streams are provisioned.
func (a *App) provisioner() pages.Provision {
	if c := &a.cfg.Video; c.Provider == "none" || !c.own() && (c.Provider == ingest.OriginName || c.Provider == ingest.RTMPName) {
		return nil
	}
	return a.provision
}

// provision makes a place to send video to, for a form of the studio.
func (a *App) provision(ctx context.Context, op operator.Operator, label, latency string) (pages.Ingest, error) {
	stream, offer, err := a.ingest.Provision(ctx, op.Handle, label, ingest.Latency(latency))
	if err != nil {
		return pages.Ingest{}, err
	}
	return pages.Ingest{Protocol: offer.Protocol, URL: offer.URL, StreamKey: offer.Key, PushURL: offer.PushURL, HLSURL: offer.HLSURL, Label: stream.Label, CreatedAt: stream.RotatedAt}, nil
}
