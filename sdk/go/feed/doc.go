// Package feed reads the live feed of Signalcast and loses nothing: it comes back
// after a cut, goes on where it was on every channel, sees what is missing, has it
// sent again, and says so.
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
//		case *feed.Gap: // older than what the feed keeps: read the routes again
//			reread(m.Channel)
//		}
//	}
//
// A reader that is slow loses nothing either: the client stops reading the
// connection, and when the server gives up on it, resumes.
package feed
