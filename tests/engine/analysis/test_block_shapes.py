"""The block shapes of a kernel: known from launches, comments and settings, else guessed."""

import pytest

from cudaperf.engine.analysis.block_shapes import Shapes, block_shapes
from cudaperf.engine.analysis.settings import Settings
from cudaperf.engine.cuda.reader import read
from cudaperf.engine.cuda.source import Source


def shapes_of(text: str, settings: Settings | None = None) -> Shapes:
    model = read(Source("a.cu", text.encode()))
    return block_shapes(model, model.by_name["k"][0], settings or Settings())


def known(text: str, settings: Settings | None = None) -> list[tuple[int, int, int]]:
    return [s.shape for s in shapes_of(text, settings).known]


KERNEL = "__global__ void k(float *a) { a[threadIdx.x] = 1.0f; }\n"


def test_launches_make_shapes_known() -> None:
    found = shapes_of(KERNEL + "void h(int n) { k<<<n, 128>>>(0); k<<<n, dim3(16, 8)>>>(0); k<<<n + 1, 128>>>(0); }")
    assert [s.shape for s in found.known] == [(128, 1, 1), (16, 8, 1)]
    assert [s.origin for s in found.known] == ["launch", "launch"]
    assert found.complete
    assert found.guesses == ()


def test_a_launch_that_is_not_understood_leaves_the_others_known() -> None:
    found = shapes_of(KERNEL + "void h(int n) { k<<<n, 128>>>(0); k<<<n, n>>>(0); }")
    assert [s.shape for s in found.known] == [(128, 1, 1)]
    assert not found.complete


def test_cuda_launch_kernel_counts() -> None:
    assert known(KERNEL + "void h(void **args) { cudaLaunchKernel((void *)k, dim3(4), dim3(8, 8), args, 0, 0); }") == [
        (8, 8, 1)
    ]


def test_template_arguments_of_the_launch() -> None:
    text = """
    #define B 64
    template <typename T, int N, int M = 3> __global__ void k(T *a) { a[threadIdx.x] = N; }
    void h() { k<float, B><<<1, B>>>(0); k<double, 128, 5><<<1, 128>>>(0); }
    """
    found = shapes_of(text)
    assert [(s.shape[0], dict(s.templates)) for s in found.known] == [(64, {"N": 64, "M": 3}), (128, {"N": 128, "M": 5})]


def test_arguments_that_depend_on_the_hosts_own_are_left_out() -> None:
    text = "template <int N> __global__ void k(float *a) {}\ntemplate <int N> void h() { k<N><<<1, 64>>>(0); }"
    assert [dict(s.templates) for s in shapes_of(text).known] == [{}]


@pytest.mark.parametrize(
    ("comment", "shape"),
    [
        ("block=256", (256, 1, 1)),
        ("block=32x8", (32, 8, 1)),
        ("block=8x8x4", (8, 8, 4)),
        ("block=BLOCK", (96, 1, 1)),
        ("launch(grid=(n + 255) / 256, block=256)", (256, 1, 1)),
    ],
)
def test_comments(comment: str, shape: tuple[int, int, int]) -> None:
    define = "#define BLOCK 96\n"
    assert known(f"{define}// cudaperf: {comment}\n{KERNEL}") == [shape]
    assert known(f"{define}__global__ void k(float *a) {{\n  // cudaperf: {comment}\n}}") == [shape]
    assert known(f"{define}// cudaperf: {comment}\ntemplate <int N>\n{KERNEL}") == [shape]


def test_comments_elsewhere_and_other_words_say_nothing() -> None:
    assert known(f"// cudaperf: block=256\nint x;\n{KERNEL}") == []
    assert known(f"// cudaperf: ignore[CP101] block by block\n{KERNEL}") == []
    assert known(f"// cudaperf: block=4096\n{KERNEL}") == []


def test_settings_come_last() -> None:
    settings = Settings(block=(64, 2, 1))
    assert known(KERNEL, settings) == [(64, 2, 1)]
    assert known(KERNEL + "void h() { k<<<1, 32>>>(0); }", settings) == [(32, 1, 1)]


def test_guesses() -> None:
    assert [s[0] for s in shapes_of(KERNEL).guesses] == [32, 64, 128, 256, 512, 1024]
    assert [s[0] for s in shapes_of("__global__ void __launch_bounds__(256) k(float *a) { a[threadIdx.x] = 0; }").guesses] == [
        256,
        32,
        64,
        128,
    ]
    two = shapes_of("__global__ void k(float *a) { a[threadIdx.y * 9 + threadIdx.x] = 0; }").guesses
    assert (16, 16, 1) in two
    assert (32, 8, 1) in two
    assert shapes_of("__global__ void k(float *a) { a[threadIdx.z] = 0; }").guesses == ((8, 8, 4),)


@pytest.mark.parametrize(
    ("body", "guesses"),
    [
        ("__shared__ float t[128]; t[threadIdx.x] = 0;", [(128, 1, 1)]),
        ("__shared__ float t[B]; int i = threadIdx.x; t[i] = 0;", [(192, 1, 1)]),
        ("__shared__ float t[B + 2]; t[threadIdx.x + 1] = 0; t[threadIdx.x + 2] = 0; t[threadIdx.x] = 0;", [(192, 1, 1)]),
        ("__shared__ float t[32][33]; t[threadIdx.y][threadIdx.x] = 0;", [(32, 32, 1)]),
        (
            "__shared__ float t[32][33]; for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = 0;",
            [(32, 8, 1)],
        ),
        ("__shared__ float t[16][17]; t[threadIdx.y][threadIdx.x] = 0;", [(16, 16, 1)]),
        ("for (int i = threadIdx.x; i < n; i += 128) a[i] = 0;", [(128, 1, 1)]),
    ],
)
def test_the_text_of_the_kernel_chooses_among_guesses(body: str, guesses: list[tuple[int, int, int]]) -> None:
    assert list(shapes_of(f"#define B 192\n__global__ void k(float *a, int n) {{ {body} }}").guesses) == guesses


def test_a_condition_on_the_thread_index_hides_what_is_below_it() -> None:
    body = "__shared__ float t[32]; if (threadIdx.x < 32) t[threadIdx.x] = 0;"
    assert len(shapes_of(f"__global__ void k() {{ {body} }}").guesses) == 6
