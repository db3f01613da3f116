package rows

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"os"
	"strings"

	"github.com/signalcast/signalcast/test/prove/internal/frame"
	"github.com/signalcast/signalcast/test/system/container"
)

// trusted is what the images trust, from where this machine keeps it.
const trusted = "/etc/ssl/certs/ca-certificates.crt"

// lookInto wants an image to hold the program, the certificates that it trusts and an
// empty folder, in every layer and nothing else.
func lookInto(ctx context.Context, e *container.Engine, seen *frame.Seen, image, program string) (n int, err error) {
	files, err := e.Files(ctx, image)
	if err != nil {
		return 0, err
	}
	sums := map[string][sha256.Size]byte{}
	for inside, outside := range map[string]string{"service": program, strings.TrimPrefix(trusted, "/"): trusted} {
		raw, err := os.ReadFile(outside)
		if err != nil {
			return 0, err
		}
		sums[inside] = sha256.Sum256(raw)
	}
	owners := map[string]int{"etc": 0, "etc/ssl": 0, "etc/ssl/certs": 0, "video": nobody}
	found := map[string]bool{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name, "/")
		found[name] = true
		// Readable to all, written by its owner, with the rights of whoever runs it.
		seen.Check(f.Mode&0o444 == 0o444 && f.Mode&0o7022 == 0, "%s holds %s with the mode %o", image, name, f.Mode&0o7777)
		sum, isFile := sums[name]
		owner, isFolder := owners[name]
		switch {
		case isFile:
			seen.Check(f.Typeflag == tar.TypeReg && f.Sum == sum, "%s holds another %s than was put in", image, name)
		case isFolder:
			seen.Check(f.Typeflag == tar.TypeDir, "%s holds %s, which is no folder", image, name)
		default:
			seen.Wrong("%s holds %s, which it does not need", image, name)
		}
		seen.Check(f.Uid == owner && f.Gid == owner, "%s of %s belongs to %d:%d", name, image, f.Uid, f.Gid)
	}
	seen.Check(len(found) == len(sums)+len(owners), "%s holds %d files and folders, not %d", image, len(found), len(sums)+len(owners))
	return len(files), nil
}
