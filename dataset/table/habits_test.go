package table

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// Files with the habits of exporters give the frames of the plain file. Rows that are skipped are a remark.
func TestHabits(t *testing.T) {
	const plain = "t,id,x,kind\n1,a,1.5,idle\n1,b,0,run\n2,a,-0.5,run\n2,b,0,idle\n"
	schema := fmt.Sprintf(strings.Replace(keyed, "scale = 0.5\n", "scale = 0.5\nempty = \"0\"\n", 1), `"auto"`)
	want, err := play(layoutOf(t, schema), fileOf(t, "a.csv", []byte(plain)))
	if err != nil || len(want) != 2 {
		t.Fatal(want, err)
	}
	semicolons := strings.NewReplacer(",", ";", ".", ",").Replace(plain)
	const where, skip = "where = 'row == \"state\"'\n", "skip_strays = true\n"
	for _, c := range []struct{ name, keys, text, remark string }{
		{"a.csv", "decimal = \",\"\nseparator = \";\"\n", semicolons, ""},
		{"a.csv", "decimal = \",\"\nseparator = \";\"\n", "\ufeffsep=;\r\n" + strings.ReplaceAll(semicolons, "\n", "\r\n"), ""},
		{"a.csv", "", "# game \"1.2\n# \n\n" + plain, ""},
		{"a.csv", "", strings.Replace(plain, "t,", "# t,", 1), ""},
		{"a.csv", "header = false\n", "# game\n" + strings.TrimPrefix(plain, "t,id,x,kind\n"), ""},
		{"a.csv", "", strings.ReplaceAll(plain, "0,", "NaN,"), ""},
		{"a.csv", "", strings.Replace(strings.Replace(plain, "0,", "-inf,", 1), "2,b,0", "2,b,None", 1), ""},
		{"a.csv", "", "note,t,id,x,kind\n\"a \"\"line\"\",\nand one\",1,a,1.5,idle\n,1,b,0,run\n\"\n\n\",2,a,-0.5,run\n-,2,b,0,idle\n", ""},
		{"a.csv", where, "row,t,id,x,kind\nstate,1,a,1.5,idle\nkill,9,z,99,z\nstate,1,b,0,run\nstate,2,a,-0.5,run\nstate,2,b,0,idle\nkill,9,z,99,z\n", ""},
		{"a.jsonl", where + "list = \"l\"\n", `{"row":"state","t":1,"l":[{"id":"a","x":1.5,"kind":"idle"},{"id":"b","x":0,"kind":"run"}]}` + "\n" +
			`{"row":"kill","t":1,"killer":"a"}` + "\n" + `{"t":1}` + "\n" +
			`{"row":"state","t":2,"l":[{"id":"a","x":-0.5,"kind":"run"},{"id":"b","x":null,"kind":"idle"}]}` + "\n", ""},
		{"a.csv", skip, plain + "1,b,7,idle\n2,b,7,idle\n", "2 rows"},
		{"a.csv", "round = \"kind2\"\n", "kind2,t,id,x,kind\n1,7,a,1.5,idle\n1,7,b,0,run\n2,7,a,-0.5,run\n2,7,b,0,idle\n", ""},
		{"a.csv", "round = \"r\"\n", "r,t,id,x,kind\n1,7,a,1.5,idle\n1,7,b,0,run\n2,3,a,-0.5,run\n2,3,b,0,idle\n", ""},
	} {
		s := c.keys + schema
		if strings.Contains(c.text, "# t,") {
			s = strings.Replace(s, `frame = "t"`, `frame = "# t"`, 1)
		}
		path, l := fileOf(t, c.name, []byte(c.text)), layoutOf(t, s)
		got, err := play(l, path)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n%s\n%v, want %v; %v", c.keys, c.text, got, want, err)
			continue
		}
		source, err := l.Open(path, false)
		if err != nil {
			t.Fatal(err)
		}
		if remarks := strings.Join(source.Remarks(), "\n"); !strings.HasPrefix(remarks, c.remark) || c.remark == "" && remarks != "" {
			t.Errorf("%s: remarks %q, want %q", c.keys, remarks, c.remark)
		}
		if again := layoutOf(t, string(l.Describe())); !reflect.DeepEqual(again, l) {
			t.Errorf("%s\nreads back as %+v, want %+v", l.Describe(), again, l)
		}
		_ = source.Close()
	}
}
