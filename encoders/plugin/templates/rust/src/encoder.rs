//! NAME: for each value that differs from the baseline, the packet has two variable-length integers:
//! the number of equal values before it, and the difference. The contract is Wirelab's wirelab.h.
#![allow(clippy::missing_safety_doc)]

use std::slice::{from_raw_parts, from_raw_parts_mut};

#[repr(C)]
pub struct Codec {
    name: *const u8, summary: *const u8, source: *const u8,
    refs: i32, suits: i32, flags: i32, memo_room: i32, param_count: i32, params: *const u8,
}
unsafe impl Sync for Codec {}

#[repr(C)]
pub struct Schema { name: *const u8, rows: i32, field_count: i32, tick_hz: i32, fields: *const u8 }

#[repr(C)]
pub struct Frame {
    tick: u32, table: *mut i32, body: *mut u8, body_size: u32, body_room: u32, memo: *mut u8, memo_size: u32, memo_room: u32,
}

#[repr(C)]
pub struct Call {
    frame: Frame, refs: [Frame; 2], ref_count: u32, packet: *mut u8, packet_size: u32, packet_room: u32, bits: *mut u32,
}

pub struct End { fields: usize, cells: usize }

const TRUNCATED: i32 = -1;
const CORRUPT: i32 = -2;
const REFUSED: i32 = -3;

static CODEC: Codec = Codec {
    name: c"NAME".as_ptr().cast(),
    summary: c"values that differ from the baseline's, in bytes".as_ptr().cast(),
    source: c"you".as_ptr().cast(),
    refs: 1, suits: 1 | 4, flags: 0, memo_room: 0, param_count: 0, params: std::ptr::null(),
};

#[no_mangle]
pub extern "C" fn wl_abi() -> i32 { 1 }

#[no_mangle]
pub extern "C" fn wl_alloc(size: u32) -> *mut u64 {
    Box::leak(vec![0u64; size as usize / 8 + 1].into_boxed_slice()).as_mut_ptr()
}

#[no_mangle]
pub extern "C" fn wl_describe(i: i32) -> *const Codec { if i == 0 { &CODEC } else { std::ptr::null() } }

#[no_mangle]
pub unsafe extern "C" fn wl_create(_: i32, schema: *const Schema, _: *const f64) -> *mut End {
    let fields = (*schema).field_count as usize;
    Box::leak(Box::new(End { fields, cells: fields * (*schema).rows as usize }))
}

fn put(out: &mut Vec<u8>, mut v: u32) {
    while v >= 128 {
        out.push(v as u8 | 128);
        v >>= 7;
    }
    out.push(v as u8);
}

fn get(data: &mut &[u8]) -> Option<u32> {
    let mut v = 0;
    for shift in (0..35).step_by(7) {
        let (&first, rest) = data.split_first()?;
        *data = rest;
        v |= ((first & 127) as u32).wrapping_shl(shift);
        if first < 128 { return Some(v); }
    }
    None
}

#[no_mangle]
pub unsafe extern "C" fn wl_encode(end: *mut End, call: *mut Call) -> i32 {
    let (end, call) = (&*end, &mut *call);
    let cur = from_raw_parts(call.frame.table, end.cells);
    let base = from_raw_parts(call.refs[0].table, end.cells);
    let mut out = Vec::new();
    let mut skipped = 0;
    for i in 0..end.cells {
        if cur[i] == base[i] { skipped += 1; continue; }
        let from = out.len();
        let d = cur[i].wrapping_sub(base[i]) as u32; // wraps around, as in wl_decode
        put(&mut out, skipped);
        put(&mut out, d << 1 ^ ((d as i32) >> 31) as u32);
        if !call.bits.is_null() { *call.bits.add(i % end.fields) += (out.len() - from) as u32 * 8 * 1024; }
        skipped = 0;
    }
    if out.len() > call.packet_room as usize { return REFUSED; }
    from_raw_parts_mut(call.packet, out.len()).copy_from_slice(&out);
    call.packet_size = out.len() as u32;
    0
}

#[no_mangle]
pub unsafe extern "C" fn wl_decode(end: *mut End, call: *mut Call) -> i32 {
    let (end, call) = (&*end, &mut *call);
    let cur = from_raw_parts_mut(call.frame.table, end.cells);
    cur.copy_from_slice(from_raw_parts(call.refs[0].table, end.cells));
    let mut data = from_raw_parts(call.packet, call.packet_size as usize);
    let mut i = 0usize;
    while !data.is_empty() {
        let (Some(skip), Some(d)) = (get(&mut data), get(&mut data)) else { return TRUNCATED };
        i = match i.checked_add(skip as usize) { Some(i) if i < end.cells => i, _ => return CORRUPT };
        cur[i] = cur[i].wrapping_add((d >> 1) as i32 ^ -((d & 1) as i32));
        i += 1;
    }
    0
}

#[no_mangle]
pub extern "C" fn wl_error() -> *const u8 { std::ptr::null() }
