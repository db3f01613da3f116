package container

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// File is one file or folder in a layer of an image.
type File struct {
	*tar.Header
	Sum [sha256.Size]byte // of what is in it
}

// Files lists what the layers of an image hold. What one layer holds and a later one hides
// or replaces is listed too: who opens the image finds it.
func (e *Engine) Files(ctx context.Context, image string) ([]File, error) {
	resp, err := e.open(ctx, http.MethodGet, "/images/"+url.PathEscape(image)+"/get", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	files, err := saved(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", image, err)
	}
	return files, nil
}

// saved reads an image as engines save it: an archive with a list of layers, which are
// archives as well.
func saved(r io.Reader) (files []File, err error) {
	parts := map[string][]byte{}
	err = each(r, func(h *tar.Header, r io.Reader) error {
		parts[h.Name], err = io.ReadAll(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []struct{ Layers []string }
	if err := json.Unmarshal(parts["manifest.json"], &list); err != nil {
		return nil, fmt.Errorf("manifest.json: %w", err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("%d images in one", len(list))
	}
	for _, layer := range list[0].Layers {
		raw, ok := parts[layer]
		if !ok {
			return nil, fmt.Errorf("there is no layer %s", layer)
		}
		err := each(bytes.NewReader(raw), func(h *tar.Header, r io.Reader) error {
			f, sum := File{Header: h}, sha256.New()
			_, err := io.Copy(sum, r)
			sum.Sum(f.Sum[:0])
			files = append(files, f)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("layer %s: %w", layer, err)
		}
	}
	return files, nil
}

// each reads an archive.
func each(r io.Reader, do func(*tar.Header, io.Reader) error) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(h, t)
		}
		if err != nil {
			return err
		}
	}
}
