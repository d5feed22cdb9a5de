//! Proves that the core links without `std`.
#![no_std]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};

use turnwire::dialect::{Decoder, Dialect};

struct NoMemory;

// SAFETY: it never hands out memory; the guard is linked, not run.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Keeps the whole way from bytes to events in the library that is linked.
#[unsafe(no_mangle)]
pub extern "C" fn turnwire_guard() -> usize {
    let mut seen = 0;
    for dialect in Dialect::ALL {
        if let Ok(mut decoder) = Decoder::new(*dialect, None) {
            decoder.feed(b"data: {}\n\n", &mut |_| seen += 1);
        }
    }
    seen
}
