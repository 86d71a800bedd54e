package engine

import (
	"reflect"
	"unsafe"
)

// unexported returns the value of a field of the struct that x points to, or of a field of that
// field, and so on. Tests compare what a subpackage keeps with what a session should make it keep.
func unexported(x any, path ...string) reflect.Value {
	v := reflect.ValueOf(x).Elem()
	for _, name := range path {
		v = v.FieldByName(name)
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	return v
}
