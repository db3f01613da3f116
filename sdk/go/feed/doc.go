// Package feed reads the live feed of Signalcast without loss of events. The client reconnects after a disconnect and resumes
// each channel at the last event. It detects missing events, requests them again, and reports those that the server no longer
// stores.
//
//	c, err := feed.Open(ctx, feed.Options{URL: "wss://api.example/ws", Channels: []string{"signals"}})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	for m, err := range c.Messages(ctx) {
//		if err != nil {
//			return err
//		}
//		switch m := m.(type) {
//		case *feed.Event:
//			handle(m)
//		case *feed.Gap: // the server no longer stores these events: read the HTTP routes again
//			reread(m.Channel)
//		}
//	}
//
// A slow reader loses no events either. While the buffer is full, the client does not read the connection. If the server closes
// the connection for this reason, the client reconnects and resumes.
package feed
