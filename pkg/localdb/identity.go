package localdb

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// identity is a user under which Postgres agrees to run; it refuses root.
type identity struct {
	name     string
	uid, gid int // owner of the data directory; -1 leaves it as it is
	apply    func(*syscall.SysProcAttr)
}

// identities lists whom to try, best first.
func identities() []identity {
	if os.Geteuid() != 0 {
		return []identity{self()}
	}
	var list []identity
	for _, name := range []string{"postgres", "nobody"} {
		if id, ok := login(name); ok {
			list = append(list, id)
		}
	}
	if id, ok := mapped(); ok {
		list = append(list, id)
	}
	return list
}

// identityOf is the identity that owns a kept data directory.
func identityOf(dir string) identity {
	var st syscall.Stat_t
	if err := syscall.Stat(dir, &st); os.Geteuid() != 0 || err != nil {
		return self()
	}
	if id, ok := mapped(); ok && st.Uid == 0 {
		return id
	}
	return credential("the owner of "+dir, int(st.Uid), int(st.Gid))
}

func self() identity {
	return identity{name: "this user", uid: -1, gid: -1, apply: func(*syscall.SysProcAttr) {}}
}

func login(name string) (identity, bool) {
	u, err := user.Lookup(name)
	if err != nil {
		return identity{}, false
	}
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	return credential("user "+name, uid, gid), err1 == nil && err2 == nil
}

func credential(name string, uid, gid int) identity {
	return identity{name: name, uid: uid, gid: gid, apply: func(a *syscall.SysProcAttr) {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}}
}
