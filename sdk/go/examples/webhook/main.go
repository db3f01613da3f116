// Command webhook receives the deliveries of a webhook. Usage: webhook PORT. SIGNALCAST_WEBHOOK_SECRET is the secret of the
// webhook.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/signalcast/signalcast/sdk/go/feed"
	"github.com/signalcast/signalcast/sdk/go/signalcast"
)

// receiver handles deliveries. It contains the last processed number of each channel; store the numbers in your database.
type receiver struct {
	secret string

	mu        sync.Mutex
	processed map[string]int64
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	post, err := signalcast.ReadWebhook(request, r.secret, time.Now())
	if err != nil {
		fmt.Println("refused:", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(post.Events) == 0 {
		fmt.Println("test delivery")
	}
	for _, m := range post.Events {
		if e, ok := m.(*feed.Event); ok && e.Seq > r.processed[e.Channel] { // a delivery can arrive twice
			r.processed[e.Channel] = e.Seq
			fmt.Println("verified:", e.Channel, e.Seq, e.Type)
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: webhook PORT")
	}
	secret := os.Getenv("SIGNALCAST_WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("SIGNALCAST_WEBHOOK_SECRET must be the secret of the webhook")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", "http://"+listener.Addr().String())
	r := &receiver{secret: secret, processed: map[string]int64{}}
	log.Fatal((&http.Server{Handler: r, ReadTimeout: 10 * time.Second}).Serve(listener))
}
