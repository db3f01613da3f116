// Command fake replaces the programs of a stack in tests of the launcher. It acts as the program whose name its file has.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalcast/signalcast/pkg/pg"
)

func main() {
	name := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && os.Args[1] == "migrate" {
		migrate(name)
		return
	}
	if os.Getenv("FAKE_FAILS") == name {
		fmt.Fprintln(os.Stderr, "HUB_URL is not set")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	mux := http.NewServeMux()
	ok := func(w http.ResponseWriter, _ *http.Request) {
		if url := os.Getenv("DATABASE_URL"); strings.Contains(url, name+"_rw") && !works(url) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"nonce": os.Getenv("INSTANCE_NONCE")})
	}
	mux.HandleFunc("/readyz", ok)
	mux.HandleFunc("/healthz", ok)
	mux.HandleFunc("/env", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(os.Environ()) })
	server := &http.Server{Addr: os.Getenv("HTTP_ADDR"), Handler: mux, ReadHeaderTimeout: time.Second}
	go func() {
		<-ctx.Done()
		fmt.Println("stopped by SIGTERM")
		if os.Getenv("FAKE_STOPS_SLOWLY") == name {
			time.Sleep(2 * time.Second)
		}
		_ = server.Close()
	}()
	fmt.Println(server.ListenAndServe())
}

// migrate adds a row to the table runs of its schema. Tests count the rows to check that a restart keeps the data.
func migrate(name string) {
	admin := os.Getenv("MIGRATE_DATABASE_URL")
	_, err := pg.Migrate(context.Background(), admin, pg.Schema{
		Name: name, Password: os.Getenv("DB_RW_PASSWORD"),
		Files: fstest.MapFS{"0001_runs.sql": {Data: []byte("CREATE TABLE runs (at timestamptz DEFAULT now());")}},
	})
	if err == nil {
		err = with(admin, func(c *pgx.Conn) error {
			_, err := c.Exec(context.Background(), "INSERT INTO "+name+".runs DEFAULT VALUES")
			return err
		})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func works(url string) bool {
	return with(url, func(c *pgx.Conn) error { return c.Ping(context.Background()) }) == nil
}

func with(url string, do func(*pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return do(conn)
}
