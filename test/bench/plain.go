package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// plainServer is what net/http costs with nothing of ours: ADDR FILE, where FILE is
// answered from memory, or 304 to who has it.
func plainServer(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("plain-server ADDR FILE")
	}
	body, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	length, tag := []string{strconv.Itoa(len(body))}, []string{plainTag}
	s := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Etag"] = tag
		if r.Header.Get("If-None-Match") == plainTag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h["Content-Type"], h["Content-Length"] = []string{"application/json"}, length
		_, _ = w.Write(body)
	})}
	context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

const plainTag = `"plain"`

// startPlain serves a page that nginx has as a file by plainServer, on the same core.
func (b *bench) startPlain(ctx context.Context, page string) (url string, child *localdb.Child, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	port, err := localdb.FreePort()
	if err != nil {
		return "", nil, err
	}
	addr := fmt.Sprintf("127.0.0.1:%d", port)
	cmd := pinned(context.Background(), serverCore, self, "plain-server", addr, b.pageFile(page))
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if child, err = localdb.StartChild(cmd, syscall.SIGTERM); err != nil {
		return "", nil, err
	}
	url = "http://" + addr + "/"
	if err := answers(ctx, url); err != nil {
		child.Stop(context.Background(), syscall.SIGTERM, time.Second)
		return "", nil, fmt.Errorf("net/http: %w", err)
	}
	return url, child, nil
}
