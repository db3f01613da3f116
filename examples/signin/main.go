// Command signin is a complete sample of a third-party app. People sign in with Signalcast. The app files calls for them, shows
// the receipts, and revokes its grant when they sign out. You can copy it as the start of your own app; see README.md.
//
//	HUB_URL=http://127.0.0.1:8080 CLIENT_ID=… go run .
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "signin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("LISTEN"), "127.0.0.1:8484"))
	if err != nil {
		return err
	}
	early, err := time.ParseDuration(cmp.Or(os.Getenv("RENEW_EARLY"), "30s"))
	if err != nil {
		return fmt.Errorf("RENEW_EARLY: %w", err)
	}
	a, err := newApp(ctx, settings{
		Hub: strings.TrimSuffix(cmp.Or(os.Getenv("HUB_URL"), "http://127.0.0.1:8080"), "/"),
		// The public URL of this app. Behind a proxy, it is an https URL.
		Base:     strings.TrimSuffix(cmp.Or(os.Getenv("BASE_URL"), "http://"+listener.Addr().String()), "/"),
		ClientID: os.Getenv("CLIENT_ID"),
		// Only a confidential app has a secret. A program on the machine of a user cannot protect a secret.
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		RenewEarly:   early,
	})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: a.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: writeTimeout}
	fmt.Println("open", a.Base)
	go func() {
		<-ctx.Done()
		shutdown, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(shutdown)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
