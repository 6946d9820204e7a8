"""What goes wrong on a GPU, each as a benchmark that must fail with its reason."""

import torch

import deadheat


def numbers(seed):
    return torch.randn(4_096, device="cuda", generator=torch.Generator("cuda").manual_seed(seed))


def squares(seed):
    return torch.randn(
        2_048, 2_048, device="cuda", generator=torch.Generator("cuda").manual_seed(seed)
    )


def fault(input, candidate, name=None, **options):
    name = name or candidate.__name__
    deadheat.benchmark(
        name=name, candidates={name: candidate}, input=input, **{"device": "cuda", **options}
    )(doubled)


def doubled(tensor):
    return tensor * 2


def takes_200_gib(tensor):
    return torch.empty(200 << 30, dtype=torch.uint8, device="cuda")


def reads_out_of_bounds(tensor):
    return tensor[torch.full((4,), 10**7, device="cuda", dtype=torch.long)]


def leaves_work_on_a_stream(tensor):
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        for _ in range(20):
            torch.mm(tensor, tensor)


def returns_something_else(tensor):
    return tensor * 2.001


lengths = {}


def shrinks(seed):
    """An input that is shorter for every new seed, and so for every block after the warm-up."""
    return numbers(seed)[: lengths.setdefault(seed, 4_096 - 8 * len(lengths))]


is_compiled_again = torch.compile(doubled, dynamic=False)


def launches_nothing(tensor):
    return tensor.shape


def on_a_device_that_is_not_there(tensor):
    return tensor + tensor


def changes_its_input(tensor):
    return tensor.mul_(2)


def waits_for_the_device(tensor):
    return (tensor * 2).sum().item()


def keeps_gradients(tensor):
    leaf = tensor.detach().requires_grad_(True)
    (leaf @ leaf).square().mean().backward()
    return leaf.grad


fault(numbers, takes_200_gib)
fault(numbers, reads_out_of_bounds)
fault(squares, leaves_work_on_a_stream)
fault(numbers, returns_something_else, check_outputs=True, rtol=1e-6)
fault(numbers, on_a_device_that_is_not_there, device="cuda:7")
fault(numbers, changes_its_input)
fault(numbers, waits_for_the_device)
fault(squares, keeps_gradients)
fault(numbers, launches_nothing)
fault(shrinks, is_compiled_again, name="is_compiled_again")
deadheat.suite()
