//go:build linux

package actionsrunner

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// programs makes a folder with programs that print what a shell script says.
func programs(t *testing.T, scripts map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return []string{filepath.Join(dir, "none"), dir}
}

// The agent finds an account of a directory server with all its groups. It also finds groups from a directory server for an account in
// /etc/passwd. If getent or id fails, the error names the program.
func TestLookup_AccountsOfOtherSources_Review_R3(t *testing.T) {
	const getent = `test "$1 $2" = "passwd ldapuser" && echo "ldapuser:*:70001:70002:A user:/people/ldap:/bin/bash"`
	for name, tt := range map[string]struct {
		user    string
		scripts map[string]string
		home    string
		groups  []uint32
		err     string
	}{
		"Directory":       {"ldapuser", map[string]string{"getent": getent, "id": `test "$1 $2" = "-G ldapuser" && echo 70002 998`}, "/people/ldap", []uint32{70002, 998}, ""},
		"GroupsAlone":     {"nobody", map[string]string{"id": "echo 65534 998"}, "/nonexistent", []uint32{65534, 998}, ""},
		"NoPrograms":      {"nobody", nil, "/nonexistent", []uint32{65534}, ""},
		"Unknown":         {"ldapuser", map[string]string{"getent": "exit 2"}, "", nil, "user: unknown user ldapuser: neither /etc/passwd nor getent has it: "},
		"NoGetent":        {"ldapuser", nil, "", nil, "getent: executable file not found"},
		"AnotherLine":     {"ldapuser", map[string]string{"getent": "echo other:*:1:1::/:/bin/sh"}, "", nil, "neither /etc/passwd nor getent has it"},
		"GroupsFail":      {"nobody", map[string]string{"id": "echo directory server is down >&2; exit 1"}, "", nil, "groups: "},
		"GroupsMalformed": {"nobody", map[string]string{"id": "echo x"}, "", nil, `parsing "x"`},
		"Root":            {"ldapuser", map[string]string{"getent": "echo ldapuser:x:0:0::/root:/bin/sh", "id": "echo 0"}, "", nil, "must not be root"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := lookup(tt.user, programs(t, tt.scripts))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("lookup = %v, want …%s…", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.Home != tt.home || !reflect.DeepEqual(a.Credential.Groups, tt.groups) {
				t.Errorf("lookup = %s %v, want %s %v", a.Home, a.Credential.Groups, tt.home, tt.groups)
			}
		})
	}
}
