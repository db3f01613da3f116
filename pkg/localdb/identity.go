package localdb

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// identity is an operating system user under which Postgres can run. Postgres refuses to run as root.
type identity struct {
	name     string
	uid, gid int // owner of the data directory; -1 leaves the owner unchanged
	apply    func(*syscall.SysProcAttr)
}

// identities returns the identities to try, in order of preference.
func identities() []identity {
	if os.Geteuid() != 0 {
		return []identity{currentIdentity()}
	}
	var list []identity
	for _, name := range []string{"postgres", "nobody"} {
		if id, ok := userIdentity(name); ok {
			list = append(list, id)
		}
	}
	if id, ok := namespaceIdentity(); ok {
		list = append(list, id)
	}
	return list
}

// ownerIdentity returns the identity that can use an existing data directory. If this process runs as root, that is the owner of
// the directory, or a user namespace if the owner is root. Otherwise it is the current user.
func ownerIdentity(dir string) identity {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); os.Geteuid() != 0 || err != nil {
		return currentIdentity()
	}
	if id, ok := namespaceIdentity(); ok && st.Uid == 0 {
		return id
	}
	return identityWithID("the owner of "+dir, int(st.Uid), int(st.Gid))
}

func currentIdentity() identity {
	return identity{name: "this user", uid: -1, gid: -1, apply: func(*syscall.SysProcAttr) {}}
}

func userIdentity(name string) (identity, bool) {
	u, err := user.Lookup(name)
	if err != nil {
		return identity{}, false
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return identityWithID("user "+name, uid, gid), err1 == nil && err2 == nil
}

func identityWithID(name string, uid, gid int) identity {
	return identity{name: name, uid: uid, gid: gid, apply: func(a *syscall.SysProcAttr) {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}}
}
